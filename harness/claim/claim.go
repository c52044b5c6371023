// Package claim lets one process at a time have a directory for itself.
//
// A claim is a lock of the kernel (flock(2)) on a file in the directory, which says
// who has it. The lock ends with its process, however that ends, and with the
// machine: a file that a killed process has left claims nothing. On NFS, the lock is
// the server's, and holds between machines.
package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/await"
)

// File is the name of the file in a directory that is locked. It is there while the
// directory is claimed, and after a process that was killed.
const File = ".skewrig.lock"

// Owner is the process that has a directory.
type Owner struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
	// Command is its command line.
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// Me is this process, from now on. An error of the host's name leaves it empty.
func Me(command string) Owner {
	host, _ := os.Hostname()
	return Owner{PID: os.Getpid(), Host: host, Command: command, Since: time.Now().Truncate(time.Second)}
}

// mayLive reports whether the process may still run. That of another machine may.
func (o Owner) mayLive() bool {
	if o.PID <= 0 {
		return false
	}
	host, err := os.Hostname()
	return err != nil || host != o.Host || !errors.Is(unix.Kill(o.PID, 0), unix.ESRCH)
}

// TakenError is the error for a directory that another process has.
type TakenError struct {
	Dir string
	// Owner is that process. If unset, it has not said who it is.
	Owner Owner
}

// Error says who has the directory since when.
func (e *TakenError) Error() string {
	if e.Owner.PID == 0 {
		return e.Dir + " is in use by another process"
	}
	where := ""
	if host, _ := os.Hostname(); host != e.Owner.Host {
		where = " on " + printable(e.Owner.Host)
	}
	return fmt.Sprintf("%s is in use by pid %d%s since %s: %s", e.Dir, e.Owner.PID, where, e.Owner.Since.Local().Format(time.DateTime), printable(e.Owner.Command))
}

// printable is a text as it is, or quoted if it has what does not show as itself.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// Claim is a directory that this process has for itself.
type Claim struct{ file *os.File }

// settling is how long it may take from the moment that a process has a lock until
// its file says who it is. On a machine that is busy it is longer (await.Until).
const settling = time.Second

// errUnsettled is the error for a lock that another process has just now: to look at
// it, or because it has not yet said who it is.
var errUnsettled = errors.New("the lock is changing hands")

// Take claims a directory, which must exist. If another process has it, the error is
// a *TakenError.
func Take(dir string, o Owner) (*Claim, error) {
	taken := &TakenError{Dir: dir}
	var c *Claim
	var err error
	await.Until(context.Background(), settling, func() bool {
		c, taken.Owner, err = try(filepath.Join(dir, File), o)
		return !errors.Is(err, errUnsettled)
	})
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, errUnsettled), errors.Is(err, unix.EWOULDBLOCK):
		return nil, taken
	}
	return nil, fmt.Errorf("claiming %s: %w", dir, err)
}

// try takes the lock if it is free, and else returns who has it.
func try(path string, o Owner) (c *Claim, has Owner, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, Owner{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	err = lock(file, unix.LOCK_EX)
	if errors.Is(err, unix.EWOULDBLOCK) {
		if lock(file, unix.LOCK_SH) == nil { // others only look at it
			return nil, Owner{}, errUnsettled
		}
		if has = read(file); !has.mayLive() {
			err = errUnsettled
		}
		return nil, has, err
	}
	if err != nil {
		return nil, Owner{}, err
	}
	if !isStill(path, file) { // who had it before has just given it back
		return nil, Owner{}, errUnsettled
	}
	return &Claim{file}, Owner{}, write(file, o)
}

// lock locks a file, or fails with EWOULDBLOCK.
func lock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// isStill reports whether an open file is the one at a path.
func isStill(path string, file *os.File) bool {
	there, err := os.Lstat(path)
	own, ownErr := file.Stat()
	return errors.Join(err, ownErr) == nil && os.SameFile(there, own)
}

// read is who has a lock, as the file says. If it does not say, it is no one.
func read(file *os.File) (o Owner) {
	if _, err := file.Seek(0, 0); err != nil {
		return Owner{}
	}
	if err := json.NewDecoder(file).Decode(&o); err != nil {
		return Owner{}
	}
	return o
}

func write(file *os.File, o Owner) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil { // what a killed process has left
		return err
	}
	_, err = file.WriteAt(append(text, '\n'), 0)
	return err
}

// Release gives the directory back. That it has been removed is no error, also if
// another process has made and claimed it again.
func (c *Claim) Release() (err error) {
	if path := c.file.Name(); isStill(path, c.file) {
		err = os.Remove(path)
	}
	return errors.Join(err, c.file.Close())
}

// Look returns the owner of a directory. If held is false, o is the last owner if it
// was killed, and empty otherwise.
func Look(dir string) (o Owner, held bool, err error) {
	file, err := os.OpenFile(filepath.Join(dir, File), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Owner{}, false, nil
	}
	if err != nil {
		return Owner{}, false, err
	}
	defer file.Close()
	err = lock(file, unix.LOCK_SH)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return read(file), true, nil
	}
	return read(file), false, err
}
