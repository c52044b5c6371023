package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Namespaces are a mount and a PID namespace (namespaces(7)) in which processes run. What is
// mounted there is nowhere else. When skewrig ends in whatever way, the kernel ends all of
// their processes, those that have become daemons among them, and then takes down their mounts.
type Namespaces struct {
	init   *exec.Cmd
	hold   *os.File // closing it ends the first process
	starts chan func()
}

// initScript is what the first process of the namespaces runs: what prepares them, and then it
// waits until its standard input is closed, which the kernel does when skewrig ends. A shell
// that waits for a command also takes notice of the end of orphans.
const initScript = `set -e
mount --make-rprivate /
mount -t proc proc /proc
%s
echo ready
exec >/dev/null 2>&1
cat`

// NewNamespaces makes namespaces. The shell script prepares them, as root: it may mount what it
// likes, and has the arguments as $1, $2 and so on. It takes root.
func NewNamespaces(script string, args ...string) (_ *Namespaces, err error) {
	end, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	n := &Namespaces{hold: hold, starts: make(chan func())}
	n.init = exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(initScript, script), "skewrig-node"}, args...)...) //nolint:noctx // lives until Close
	n.init.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	n.init.Stdin = end
	var said strings.Builder
	n.init.Stderr = &said
	out, err := n.init.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	n.init.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}
	if err := n.init.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("making namespaces: %w", err), hold.Close())
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		if errors.Is(err, io.EOF) {
			err = n.init.Wait()
		}
		return nil, errors.Join(fmt.Errorf("preparing namespaces: %w: %s", err, strings.TrimSpace(said.String())), hold.Close())
	}
	entered := make(chan error)
	go n.spawn(entered)
	if err := <-entered; err != nil {
		return nil, errors.Join(fmt.Errorf("entering namespaces: %w", err), n.Close())
	}
	return n, nil
}

// spawn starts commands from one thread, which is in the namespaces. It ends with its
// goroutine, so that no other one gets it.
func (n *Namespaces) spawn(entered chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() { // the main thread never ends, and would stay there: another one is free
		n.elsewhere(entered)
		runtime.UnlockOSThread()
		return
	}
	err := enter(n.init.Process.Pid)
	entered <- err
	if err != nil {
		return
	}
	for start := range n.starts {
		start()
	}
}

// elsewhere is spawn on another thread than this one, which is locked until that has entered.
func (n *Namespaces) elsewhere(entered chan<- error) {
	there := make(chan error)
	go n.spawn(there)
	entered <- <-there
}

// enter has the thread enter the namespaces of a process. Its own PID namespace stays, but what
// it starts is in that one.
func enter(pid int) error {
	var failures []error
	for _, namespace := range []string{"pid", "mnt"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, namespace))
		if err != nil {
			return err
		}
		defer file.Close()
		if namespace == "mnt" { // which all that have the same root directory enter or none
			failures = append(failures, unix.Unshare(unix.CLONE_FS))
		}
		failures = append(failures, unix.Setns(int(file.Fd()), 0))
	}
	return errors.Join(failures...)
}

// PID is the process id of the first process.
func (n *Namespaces) PID() int { return n.init.Process.Pid }

// Start starts a command in the namespaces, as the leader of a process group.
func (n *Namespaces) Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	result := make(chan error)
	n.starts <- func() { result <- cmd.Start() }
	return <-result
}

// Run runs a command in the namespaces to its end. A command of a context is killed when that
// is done.
func (n *Namespaces) Run(cmd *exec.Cmd) error {
	if err := n.Start(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// Close ends all processes of the namespaces, and returns when they are gone. Nothing may be
// started there afterwards.
func (n *Namespaces) Close() error {
	close(n.starts)
	err := n.init.Process.Kill()
	_ = n.init.Wait() // it was killed
	return errors.Join(err, n.hold.Close())
}
