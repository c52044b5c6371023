package process

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
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
	closed chan struct{}
	close  func() error
}

// errClosed is the error of a command that is to start in namespaces that have ended.
var errClosed = errors.New("its namespaces have ended")

// initScript is the script of the first process of the namespaces.
//
//go:embed init.sh
var initScript string

// NewNamespaces makes namespaces. The shell script prepares them, as root: it may mount what it
// likes, and has the arguments as $1, $2 and so on. It takes root.
func NewNamespaces(script string, args ...string) (_ *Namespaces, err error) {
	end, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	n := &Namespaces{hold: hold, starts: make(chan func()), closed: make(chan struct{})}
	n.close = sync.OnceValue(n.end)
	n.init = exec.Command("/bin/sh", append([]string{"-c", initScript, "skewrig-node", script}, args...)...) //nolint:noctx // lives until Close
	n.init.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	n.init.Stdin = end
	said := tail{max: maxErrors}
	n.init.Stderr = &said
	out, err := n.init.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	n.init.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID}
	if err := n.init.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("making namespaces: %w", err), hold.Close())
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it has ended: it says nothing but that it is ready
		closed := hold.Close()
		err = cmp.Or(n.init.Wait(), err)
		return nil, errors.Join(withLines(fmt.Errorf("preparing namespaces: %w", err), string(said.last())), closed)
	}
	entered := make(chan error)
	onThread(func() { n.spawn(entered) })
	if err := <-entered; err != nil {
		return nil, errors.Join(fmt.Errorf("entering namespaces: %w", err), n.Close())
	}
	return n, nil
}

// spawn starts commands from this thread, which enters the namespaces for good.
func (n *Namespaces) spawn(entered chan<- error) {
	err := enter(n.init.Process.Pid)
	entered <- err
	if err != nil {
		return
	}
	for {
		select {
		case start := <-n.starts:
			start()
		case <-n.closed:
			return
		}
	}
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

// start starts a command in the namespaces, as the leader of a process group.
func (n *Namespaces) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	result := make(chan error)
	select {
	case n.starts <- func() { result <- cmd.Start() }:
		return <-result
	case <-n.closed:
		return errClosed
	}
}

// Close ends all processes of the namespaces, and returns when they are gone. Nothing can be
// started there afterwards.
func (n *Namespaces) Close() error { return n.close() }

func (n *Namespaces) end() error {
	close(n.closed)
	err := n.init.Process.Kill()
	_ = n.init.Wait() // it was killed
	return errors.Join(err, n.hold.Close())
}
