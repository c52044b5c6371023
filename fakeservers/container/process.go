package container

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// pendingSignals is how many signals a process may leave unread.
const pendingSignals = 16

// unplayed are the signals that players have nothing to do with: those of the Go runtime,
// of children, of pipes and of terminals.
var unplayed = []os.Signal{
	syscall.SIGURG, syscall.SIGCHLD, syscall.SIGPIPE, syscall.SIGWINCH,
	syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
}

// signals delivers what is sent to this process, and tells it first. From now on it does not end of
// signals by itself: its player decides that.
func signals(tell func(syscall.Signal)) <-chan syscall.Signal {
	sent, played := make(chan os.Signal, pendingSignals), make(chan syscall.Signal, pendingSignals)
	signal.Notify(sent)
	go func() {
		for s := range sent {
			if s, is := s.(syscall.Signal); is && !slices.Contains(unplayed, os.Signal(s)) {
				tell(s)
				played <- s
			}
		}
	}()
	return played
}

// input is the standard input, of which a player can give up a read.
func input() (*image.Pipe, error) {
	pipe, err := image.NewPipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(pipe, os.Stdin)
		_ = pipe.CloseWrite()
	}()
	return pipe, nil
}

// address is the pod's: the first IPv4 address of an interface other than the loopback
// one. Without any, it is the loopback address.
func address() netip.Addr {
	found := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return found
	}
	for _, a := range addresses {
		network, is := a.(*net.IPNet)
		if !is {
			continue
		}
		if ip, _ := netip.AddrFromSlice(network.IP); ip.Unmap().Is4() && ip.Unmap().IsGlobalUnicast() {
			return ip.Unmap()
		}
	}
	return found
}

// isFirst reports whether a process is the main one of its container: the first one of a
// container is the first of its process namespace or, where that is another's too, the
// oldest one in its cgroup. Processes that are started beside it join both.
func isFirst(proc fs.FS, pid int) bool {
	if pid == 1 {
		return true
	}
	own, err := fs.ReadFile(proc, fmt.Sprintf("%d/cgroup", pid))
	if err != nil {
		return false
	}
	began := startOf(proc, pid)
	processes, _ := fs.Glob(proc, "[0-9]*/cgroup")
	for _, file := range processes {
		cgroup, err := fs.ReadFile(proc, file)
		other, _ := strconv.Atoi(strings.TrimSuffix(file, "/cgroup"))
		if err != nil || other == pid || !bytes.Equal(cgroup, own) {
			continue // it has ended, or is another container's
		}
		if start := startOf(proc, other); start < began || start == began && other < pid {
			return false
		}
	}
	return true
}

// startOf is when a process began, in ticks since the machine did (proc_pid_stat(5)). For
// one that has ended, it is the end of time.
func startOf(proc fs.FS, pid int) uint64 {
	const startField = 22 - 3 // counted from the first one after the name, which is in brackets
	stat, err := fs.ReadFile(proc, fmt.Sprintf("%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) <= startField {
		return ^uint64(0)
	}
	start, _ := strconv.ParseUint(fields[startField], 10, 64)
	return start
}
