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

// StartChild starts a command in a process group of its own, which ends with skewrig, and no earlier.
func StartChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	spawn() <- func() { result <- cmd.Start() }
	return <-result
}

// Run runs a command to its end, as its own Run does, in a process group that ends
// with skewrig. A command of a context is killed when that is done.
func Run(cmd *exec.Cmd) error {
	if err := StartChild(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}
