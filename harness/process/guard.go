package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// guardScript waits until its standard input is closed, which the kernel does
// when skewrig ends in whatever way, and then removes a directory, and the cgroups
// that have its name. Children that are dying at that moment may still be writing, so it
// looks again.
const guardScript = `cat >/dev/null
i=0
while [ $i -lt 200 ]; do
	rm -rf -- "$1" 2>/dev/null
	left=
	if [ -e "$1" ]; then left=yes; fi
	for group in /sys/fs/cgroup/"${1##*/}" /sys/fs/cgroup/*/"${1##*/}"; do
		case "${1##*/}" in skewrig-*) ;; *) continue ;; esac
		[ -d "$group" ] || continue
		find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
		if [ -d "$group" ]; then left=yes; fi
	done
	[ "$left" ] || exit 0
	i=$((i+1))
	sleep 0.05
done
exit 1`

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
	cmd.Stdin = end
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
	case removed != nil: // somebody still writes, and the guard tries for longer
		if err := errors.Join(g.hold.Close(), g.cmd.Wait()); err != nil {
			return errors.Join(removed, err)
		}
		return nil
	}
	killed := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	_ = g.cmd.Wait() // it was killed
	return errors.Join(killed, g.hold.Close())
}
