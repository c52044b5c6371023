package runtime

import (
	"errors"
	"syscall"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestStopSignals(t *testing.T) {
	t.Parallel()
	for signal, want := range map[cri.Signal]struct {
		number syscall.Signal
		name   string
	}{
		cri.Signal_SIGNAL_RUNTIME_DEFAULT: {15, "SIGTERM"},
		cri.Signal_SIGNAL_SIGTERM:         {15, "SIGTERM"},
		cri.Signal_SIGNAL_SIGINT:          {2, "SIGINT"},
		cri.Signal_SIGNAL_SIGIOT:          {6, "SIGABRT"},
		cri.Signal_SIGNAL_SIGPOLL:         {29, "SIGIO"},
		cri.Signal_SIGNAL_SIGRTMIN:        {34, "SIGRTMIN+0"},
		cri.Signal_SIGNAL_SIGRTMINPLUS15:  {49, "SIGRTMIN+15"},
		cri.Signal_SIGNAL_SIGRTMAXMINUS14: {50, "SIGRTMIN+16"},
		cri.Signal_SIGNAL_SIGRTMAX:        {64, "SIGRTMIN+30"},
		cri.Signal(1000):                  {15, "SIGTERM"}, // of a later API
	} {
		if got := stopSignal(signal); got != want.number || signalName(got) != want.name {
			t.Errorf("%s: %d %s, want %d %s", signal, got, signalName(got), want.number, want.name)
		}
	}
}

// A signal that the API names and the system does not would become SIGTERM.
func TestEverySignalIsKnown(t *testing.T) {
	t.Parallel()
	for number, name := range cri.Signal_name {
		isDefault := number == int32(cri.Signal_SIGNAL_RUNTIME_DEFAULT) || number == int32(cri.Signal_SIGNAL_SIGTERM)
		if got := stopSignal(cri.Signal(number)); (got == syscall.SIGTERM) != isDefault {
			t.Errorf("%s is %d", name, got)
		}
	}
}

// TestKillFromInside: no process in a container kills or halts its first process.
func TestKillFromInside(t *testing.T) {
	t.Parallel()
	sent := make(signals, pendingSignals)
	for _, signal := range []syscall.Signal{0, syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGUSR1} {
		if err := sent.kill(1, signal); err != nil {
			t.Error(err)
		}
	}
	if err := sent.kill(2, syscall.SIGTERM); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("there is a second process: %v", err)
	}
	if got := <-sent; got != syscall.SIGUSR1 || len(sent) > 0 {
		t.Errorf("it got %s, and %d more", got, len(sent))
	}
}
