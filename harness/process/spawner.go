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

// start starts a command in namespaces, if there are any, or confined, if that is wanted and the kernel can. Its end closes
// ended.
func start(cmd *exec.Cmd, in *Namespaces, confined *Confinement, ended <-chan struct{}) error {
	switch {
	case in != nil:
		return in.start(cmd)
	case confined != nil && Confines():
		return confined.start(cmd, ended)
	}
	return startChild(cmd)
}

// Offline is the environment of a program that asks no other machine over HTTP: its proxy is an address at which nothing
// listens. Proxies are never asked for loopback addresses (golang.org/x/net/http/httpproxy).
func Offline() []string { return []string{"HTTP_PROXY=" + NoProxy, "HTTPS_PROXY=" + NoProxy} }

// NoProxy is the address of a proxy at which nothing listens.
const NoProxy = "http://127.0.0.1:1"
