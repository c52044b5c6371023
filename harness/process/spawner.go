package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawn starts commands from one operating system thread that never ends.
//
// Linux delivers a parent-death signal when the *thread* that started the
// child ends, and the Go runtime ends threads as it likes. Children started
// from a thread that lives as long as skewrig die exactly when skewrig does,
// kill -9 included.
var spawn = sync.OnceValue(func() chan<- func() {
	requests := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range requests {
			start()
		}
	}()
	return requests
})

func startOnSpawner(cmd *exec.Cmd) error {
	result := make(chan error)
	spawn() <- func() { result <- cmd.Start() }
	return <-result
}

// Run runs a command to its end, as its own Run does, in a process group that ends
// with skewrig. A command of a context is killed when that is done.
func Run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = ownGroup()
	if err := startOnSpawner(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// ownGroup makes a child the leader of a process group, and ends it when skewrig ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
