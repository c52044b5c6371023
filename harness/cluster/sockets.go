package cluster

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/record"
)

// Sockets are the TCP sockets that a component has open, and those in TIME_WAIT with
// the port at either end: the kernel does not say whose they were.
func (c *Cluster) Sockets(name string, port int) ([]record.Socket, error) {
	_, comp, err := c.find(name)
	if err != nil {
		return nil, err
	}
	running := comp.process()
	if running == nil {
		return nil, fmt.Errorf("%s is not running", name)
	}
	process := filepath.Join("/proc", strconv.Itoa(running.PID()))
	open, err := openSockets(filepath.Join(process, "fd"))
	if err != nil {
		return nil, err
	}
	var all []record.Socket
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(process, "net", table))
		if err != nil {
			return nil, err
		}
		all = append(all, socketsIn(string(text), open, port)...)
	}
	return all, nil
}

// openSockets are the inodes of the sockets among the open files of a process.
func openSockets(dir string) (map[string]bool, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	open := make(map[string]bool)
	for _, f := range files {
		target, err := os.Readlink(filepath.Join(dir, f.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was closed meanwhile
			return nil, err
		}
		if inode, is := strings.CutPrefix(target, "socket:["); is {
			open[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return open, nil
}

const timeWait = "TIME_WAIT"

// socketStates are the kernel's names of the states of TCP, by their number (include/net/tcp_states.h).
var socketStates = []string{
	"", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", timeWait, "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV",
}

// socketsIn are those sockets in a table of the kernel (proc_net_tcp.rst) that are
// open, or wait and have the port.
func socketsIn(table string, open map[string]bool, port int) (all []record.Socket) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 10 {
			continue
		}
		local, remote := socketAddress(fields[1]), socketAddress(fields[2])
		state, err := strconv.ParseUint(fields[3], 16, 8)
		if err != nil || state >= uint64(len(socketStates)) {
			continue // the heading
		}
		s := record.Socket{Local: local.String(), Remote: remote.String(), State: socketStates[state]}
		atPort := port != 0 && (int(local.Port()) == port || int(remote.Port()) == port)
		if open[fields[9]] || s.State == timeWait && atPort {
			all = append(all, s)
		}
	}
	return all
}

// socketAddress reads an address in hexadecimal, whose words are in the order of the
// machine, and a port.
func socketAddress(text string) netip.AddrPort {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, errPort := strconv.ParseUint(port, 16, 16)
	if err != nil || errPort != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for word := raw; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number))
}
