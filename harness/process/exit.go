package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tailLines is how much of a log an error carries.
	tailLines = 20
	// tailBytes bounds what is read to find those lines.
	tailBytes = 64 << 10
)

// ExitError says that a process ended, and what it last said.
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
	// Log is the path of its log, Tail the end of it.
	Log, Tail string
}

// Error names the process, its exit status and the end of its log.
func (e *ExitError) Error() string {
	return fmt.Sprintf("%s ended after %s: %s; the end of its log (%s):\n%s",
		e.Name, e.Ran.Round(time.Millisecond), e.State, e.Log, e.Tail)
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

// tail returns the last lines of a file, indented. What can't be read is said
// in its place: this text is part of an error that must not be lost.
func tail(path string, lines int) string {
	text, err := readEnd(path, tailBytes)
	if err != nil {
		return "\t(" + err.Error() + ")"
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return "\t" + strings.Join(all, "\n\t")
}

func readEnd(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(-min(limit, info.Size()), io.SeekEnd); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return bytes.ToValidUTF8(text, []byte("?")), err
}
