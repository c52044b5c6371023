package runtime

import (
	"cmp"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The first real-time signal, in the numbering that user space sees (signal(7)).
const sigRTMin = 34

// stopSignal returns the signal that stands for a CRI stop signal: SIGTERM if
// the container names none.
func stopSignal(s cri.Signal) syscall.Signal {
	if s >= cri.Signal_SIGNAL_SIGRTMIN && s <= cri.Signal_SIGNAL_SIGRTMAX {
		return syscall.Signal(sigRTMin + s - cri.Signal_SIGNAL_SIGRTMIN)
	}
	switch s {
	case cri.Signal_SIGNAL_SIGCLD:
		return unix.SIGCHLD
	case cri.Signal_SIGNAL_SIGIOT:
		return unix.SIGABRT
	case cri.Signal_SIGNAL_SIGPOLL:
		return unix.SIGIO
	}
	return cmp.Or(unix.SignalNum(strings.TrimPrefix(s.String(), "SIGNAL_")), unix.SIGTERM)
}

// signalName returns a signal's name, "SIGTERM" or "SIGRTMIN+1".
func signalName(s syscall.Signal) string {
	if s >= sigRTMin {
		return fmt.Sprintf("SIGRTMIN+%d", s-sigRTMin)
	}
	return unix.SignalName(s)
}
