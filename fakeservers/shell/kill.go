package shell

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// kill sends a signal to processes: kill [-s SIGNAL | -SIGNAL] PID...
func kill(_ context.Context, s *session, args []string) int {
	signal, err := syscall.SIGTERM, error(nil)
	switch {
	case len(args) > 1 && args[0] == "-s":
		signal, err = killSignal(args[1])
		args = args[2:]
	case len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--":
		signal, err = killSignal(args[0][1:])
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if err == nil && len(args) == 0 {
		err = errors.New("it takes a process")
	}
	if err != nil {
		return s.complain("kill", err)
	}
	return s.each("kill", args, func(arg string) error {
		pid, err := strconv.Atoi(arg)
		switch {
		case err != nil:
			return fmt.Errorf("skewrig understands the number of a process, not %s", arg)
		case s.files.Kill == nil:
			err = syscall.ESRCH
		default:
			err = s.files.Kill(pid, signal)
		}
		if err != nil {
			return fmt.Errorf("(%d) - %w", pid, err)
		}
		return nil
	})
}

// killSignal returns the signal of a name or number: 0 asks whether there is a process.
func killSignal(name string) (syscall.Signal, error) {
	signal := signalNumber(name)
	if signal == 0 && name != "0" {
		return 0, fmt.Errorf("there is no signal %s", name)
	}
	return signal, nil
}
