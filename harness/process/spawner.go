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

// startChild starts a command in a process group of its own, which ends with skewrig, and no earlier.
func startChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	spawn() <- func() { result <- cmd.Start() }
	return <-result
}
