package process

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// guardScript removes a directory when skewrig has ended.
//
//go:embed guard.sh
var guardScript string

// Guard owns a directory and sees to it that the directory is removed even
// when skewrig is killed with a signal that it can't handle. Where there is no shell, as
// in an image of nothing but skewrig, the directory ends with Close or the container.
type Guard struct {
	dir  string
	hold *os.File // closing it releases the guard
	cmd  *exec.Cmd
}

// NewGuard makes a directory, open to its owner only, and starts guarding it. That
// there is one already is an error.
func NewGuard(dir string) (*Guard, error) { return newGuard("/bin/sh", dir) }

// newGuard has the guard run by a shell.
func newGuard(shell, dir string) (_ *Guard, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if _, err := os.Stat(shell); errors.Is(err, fs.ErrNotExist) {
		return &Guard{dir: dir}, nil
	}
	end, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()

	cmd := exec.Command(shell, "-c", guardScript, "skewrig-guard", dir) //nolint:noctx // outlives every context on purpose
	cmd.Env, cmd.Stdin = ToolEnv(), end
	// A group of its own: neither Ctrl-C nor a closing terminal reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the guard of %s: %w", dir, err), hold.Close())
	}
	return &Guard{dir: dir, hold: hold, cmd: cmd}, nil
}

// Dir is the guarded directory.
func (g *Guard) Dir() string { return g.dir }

// Close removes the directory and returns when it and the guard are gone. From when the
// directory is gone, another one may have its name: the guard must not look for it then.
func (g *Guard) Close() error {
	removed := os.RemoveAll(g.dir)
	switch {
	case g.cmd == nil:
		return removed
	case removed != nil: // a process still writes there, and the guard tries for longer
		if err := errors.Join(g.hold.Close(), g.cmd.Wait()); err != nil {
			return errors.Join(removed, err)
		}
		return nil
	}
	killed := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	_ = g.cmd.Wait() // it was killed
	return errors.Join(killed, g.hold.Close())
}
