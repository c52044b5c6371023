package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxLog bounds what is read of a log to find out why a process ended, in bytes.
const maxLog = 1 << 20

// ExitError says that a process ended, and why, as far as it said so.
type ExitError struct {
	// Name is the process, such as "kubelet/node-a".
	Name string
	// State is how it ended: "exit status 1", "signal: killed".
	State string
	// Code is its exit status. It is -1 if a signal ended it, which Signal names then:
	// "SIGKILL".
	Code   int
	Signal string
	// Ran is how long it had been running, and Took how long it took to end after Stop
	// asked it to: 0 if Stop did not.
	Ran, Took time.Duration
	// Overdue is true if Stop had to kill it.
	Overdue bool
	// Ready is true if it was ready before it ended.
	Ready bool
	// Cause is what it said of why it ended: see Cause. Log is the path of its log.
	Cause, Log string
}

// Error names the process, says why it ended, and where to read more.
func (e *ExitError) Error() string {
	what := "did not start"
	if e.Ready {
		what = "ended"
	}
	if e.Cause != "" {
		what += ": " + e.Cause
	}
	return fmt.Sprintf("%s %s (%s after %s; log: %s)", e.Name, what, e.State, e.Ran.Round(time.Millisecond), e.Log)
}

func describe(state *os.ProcessState, err error) string {
	if state != nil {
		return state.String()
	}
	return err.Error()
}

// status is the exit status of a process, or -1 and the signal that ended it.
func status(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	if how, is := state.Sys().(syscall.WaitStatus); is && how.Signaled() {
		signal = unix.SignalName(how.Signal())
	}
	return state.ExitCode(), signal
}

// causeIn is the cause in a log, of a process whose first line begins at an offset. What
// can't be read is said in its place: this text is part of an error that must not be lost.
func causeIn(path string, from int64) string {
	text, err := readEnd(path, from)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return Cause(string(text))
}

// readEnd reads a file from an offset on, or less if there is too much.
func readEnd(path string, from int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(from, info.Size()-maxLog), io.SeekStart); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxLog))
	return bytes.ToValidUTF8(text, []byte("?")), err
}
