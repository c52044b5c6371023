package runtime

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The first real-time signal, in the numbering that user space sees (signal(7)).
const sigRTMin = 34

// stopSignals are the signals below the real-time ones that a container can
// name as its stop signal.
var stopSignals = map[cri.Signal]syscall.Signal{
	cri.Signal_SIGNAL_RUNTIME_DEFAULT: unix.SIGTERM,
	cri.Signal_SIGNAL_SIGABRT:         unix.SIGABRT,
	cri.Signal_SIGNAL_SIGALRM:         unix.SIGALRM,
	cri.Signal_SIGNAL_SIGBUS:          unix.SIGBUS,
	cri.Signal_SIGNAL_SIGCHLD:         unix.SIGCHLD,
	cri.Signal_SIGNAL_SIGCLD:          unix.SIGCHLD,
	cri.Signal_SIGNAL_SIGCONT:         unix.SIGCONT,
	cri.Signal_SIGNAL_SIGFPE:          unix.SIGFPE,
	cri.Signal_SIGNAL_SIGHUP:          unix.SIGHUP,
	cri.Signal_SIGNAL_SIGILL:          unix.SIGILL,
	cri.Signal_SIGNAL_SIGINT:          unix.SIGINT,
	cri.Signal_SIGNAL_SIGIO:           unix.SIGIO,
	cri.Signal_SIGNAL_SIGIOT:          unix.SIGABRT,
	cri.Signal_SIGNAL_SIGKILL:         unix.SIGKILL,
	cri.Signal_SIGNAL_SIGPIPE:         unix.SIGPIPE,
	cri.Signal_SIGNAL_SIGPOLL:         unix.SIGIO,
	cri.Signal_SIGNAL_SIGPROF:         unix.SIGPROF,
	cri.Signal_SIGNAL_SIGPWR:          unix.SIGPWR,
	cri.Signal_SIGNAL_SIGQUIT:         unix.SIGQUIT,
	cri.Signal_SIGNAL_SIGSEGV:         unix.SIGSEGV,
	cri.Signal_SIGNAL_SIGSTKFLT:       unix.SIGSTKFLT,
	cri.Signal_SIGNAL_SIGSTOP:         unix.SIGSTOP,
	cri.Signal_SIGNAL_SIGSYS:          unix.SIGSYS,
	cri.Signal_SIGNAL_SIGTERM:         unix.SIGTERM,
	cri.Signal_SIGNAL_SIGTRAP:         unix.SIGTRAP,
	cri.Signal_SIGNAL_SIGTSTP:         unix.SIGTSTP,
	cri.Signal_SIGNAL_SIGTTIN:         unix.SIGTTIN,
	cri.Signal_SIGNAL_SIGTTOU:         unix.SIGTTOU,
	cri.Signal_SIGNAL_SIGURG:          unix.SIGURG,
	cri.Signal_SIGNAL_SIGUSR1:         unix.SIGUSR1,
	cri.Signal_SIGNAL_SIGUSR2:         unix.SIGUSR2,
	cri.Signal_SIGNAL_SIGVTALRM:       unix.SIGVTALRM,
	cri.Signal_SIGNAL_SIGWINCH:        unix.SIGWINCH,
	cri.Signal_SIGNAL_SIGXCPU:         unix.SIGXCPU,
	cri.Signal_SIGNAL_SIGXFSZ:         unix.SIGXFSZ,
}

// stopSignal returns the signal that stands for a CRI stop signal: SIGTERM if
// the container names none.
func stopSignal(s cri.Signal) syscall.Signal {
	if s >= cri.Signal_SIGNAL_SIGRTMIN && s <= cri.Signal_SIGNAL_SIGRTMAX {
		return syscall.Signal(sigRTMin + s - cri.Signal_SIGNAL_SIGRTMIN)
	}
	if signal, ok := stopSignals[s]; ok {
		return signal
	}
	return unix.SIGTERM
}

// signalName returns a signal's name, "SIGTERM" or "SIGRTMIN+1".
func signalName(s syscall.Signal) string {
	if s >= sigRTMin {
		return fmt.Sprintf("SIGRTMIN+%d", s-sigRTMin)
	}
	return unix.SignalName(s)
}
