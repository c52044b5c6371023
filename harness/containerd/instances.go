package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Instances returns how many inotify instances the processes of a user may have on this machine (inotify(7)),
// or 0 if the limit is not known.
func Instances() (n int) {
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_instances") // 0 without it
	_, _ = fmt.Sscan(string(text), &n)
	return n
}

// nodeInstances is how many a node takes: its kubelet five, and its containerd one.
const nodeInstances = 6

// instancesPoll is how often to look whether others have left some.
const instancesPoll = 100 * time.Millisecond

// awaitInstances waits until there are inotify instances for a node, without which its containerd never
// becomes ready, and its kubelet ends.
func awaitInstances(ctx context.Context, open func() (fd int, err error)) error {
	for {
		err := try(nodeInstances, open)
		if !errors.Is(err, unix.EMFILE) {
			return err
		}
		select {
		case <-time.After(instancesPoll):
		case <-ctx.Done():
			return fmt.Errorf("other processes have all inotify instances but a few, of which a node takes %d: raise fs.inotify.max_user_instances, which is %d, or run fewer cells at once (--parallel): %w",
				nodeInstances, Instances(), err)
		}
	}
}

// instance opens an inotify instance.
func instance() (fd int, err error) { return unix.InotifyInit1(unix.IN_CLOEXEC) }

// try opens some files, and closes those that it could open.
func try(n int, open func() (fd int, err error)) error {
	for range n {
		fd, err := open()
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
	}
	return nil
}
