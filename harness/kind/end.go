package kind

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// End is how a process of a component has ended.
type End struct {
	// Code is its exit status. It is -1 if a signal ended it, which Signal names then: "SIGKILL".
	Code   int
	Signal string
	// At is when. If unset, it is not known how it has ended.
	At time.Time
}

// String says it in a few words.
func (e End) String() string {
	switch {
	case e.At.IsZero():
		return "ended"
	case e.Signal != "":
		return "ended by " + e.Signal
	default:
		return fmt.Sprintf("exited with %d", e.Code)
	}
}

// signaled is the end by a signal, by its number.
func signaled(number int, at time.Time) End {
	return End{Code: -1, Signal: unix.SignalName(syscall.Signal(number)), At: at}
}

// byShell is what a container runtime adds to the number of a signal that ended a process, as a shell does. A
// process may exit with more by itself, such as 255.
const byShell = 128

// ofContainer is the end of a container's process.
func ofContainer(code int32, at time.Time) End {
	if end := signaled(int(code)-byShell, at); end.Signal != "" {
		return end
	}
	return End{Code: int(code), At: at}
}

// processExit is the id of what systemd says when a process of a unit has ended (systemd, sd-messages.h,
// SD_MESSAGE_UNIT_PROCESS_EXIT).
const processExit = "98e322203f7a4ed290d09fe03c09fe15"

// unitExitFields are the fields of an entry that say it. journalctl adds the time.
const unitExitFields = "MESSAGE_ID,EXIT_CODE,EXIT_STATUS"

// maxEntry is the length of an entry of a journal that can be read, in bytes. journalctl prints more than
// unitExitFields if its release is older than they are.
const maxEntry = 1 << 20

// readUnitExits reads what a journal has of a unit, as journalctl --output=json prints it, and calls a
// function with each end of a process that was no success. An entry that can't be read is an error: it may have been one.
func readUnitExits(journal io.Reader, exited func(End)) error {
	lines := bufio.NewScanner(journal)
	lines.Buffer(nil, maxEntry)
	for lines.Scan() {
		var entry struct {
			ID     string `json:"MESSAGE_ID"`
			Code   string `json:"EXIT_CODE"`
			Status string `json:"EXIT_STATUS"`
			Micros string `json:"__REALTIME_TIMESTAMP"`
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return fmt.Errorf("%.200q: %w", lines.Bytes(), err)
		}
		if entry.ID != processExit {
			continue
		}
		micros, noTime := strconv.ParseInt(entry.Micros, 10, 64)
		status, noStatus := strconv.Atoi(entry.Status)
		if err := errors.Join(noTime, noStatus); err != nil {
			return fmt.Errorf("%.200q does not say how a process has ended, or when: %w", lines.Bytes(), err)
		}
		exited(ofUnit(entry.Code, status, time.UnixMicro(micros)))
	}
	return lines.Err()
}

// ofMain is the end of a unit's main process, by what systemctl show says of ExecMainCode and ExecMainStatus
// (org.freedesktop.systemd1(5)).
func ofMain(text string, at time.Time) (End, error) {
	var code, status int
	if _, err := fmt.Sscan(text, &code, &status); err != nil {
		return End{}, fmt.Errorf("%w: %q", err, text)
	}
	how, known := ends[code]
	if !known {
		return End{}, fmt.Errorf("no process of it has ended: %q", text)
	}
	return ofUnit(how, status, at), nil
}

// ends are the ways in which a process ends (waitid(2), CLD_EXITED, CLD_KILLED, CLD_DUMPED), as systemd calls them.
var ends = map[int]string{1: "exited", 2: "killed", 3: "dumped"}

// ofUnit is the end of a process of systemd's (systemd.exec(5), $EXIT_CODE and $EXIT_STATUS).
func ofUnit(how string, status int, at time.Time) End {
	if how == "exited" {
		return End{Code: status, At: at}
	}
	return signaled(status, at)
}

// absences are the times in which components are to be away.
type absences struct {
	mu  sync.Mutex
	all map[string][]*absence
}

type absence struct{ from, to time.Time }

// begin says that a component is to be away from now on, until end.
func (a *absences) begin(component string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = make(map[string][]*absence)
	}
	a.all[component] = append(a.all[component], &absence{from: time.Now()})
}

// end says that a component is not to be away any more, if it was.
func (a *absences) end(component string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if of := a.all[component]; len(of) > 0 && of[len(of)-1].to.IsZero() {
		of[len(of)-1].to = time.Now()
	}
}

// cover reports whether a component was to be away at a time. Whoever says when something has ended may say so
// later.
func (a *absences) cover(component string, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.all[component] {
		if !at.Before(one.from) && (one.to.IsZero() || at.Before(one.to)) {
			return true
		}
	}
	return false
}
