package collect

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// containerOf returns the id of the container at the other end.
func containerOf(conn *net.UnixConn) (string, error) {
	pid, err := peerProcess(conn)
	if err != nil {
		return "", err
	}
	cgroups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "", err
	}
	id := containerID(string(cgroups))
	if id == "" {
		return "", fmt.Errorf("process %d is in no container: its cgroups are %q", pid, cgroups)
	}
	return id, nil
}

// isGone reports whether the other end, which says nothing before it was greeted, has
// closed the connection.
func isGone(conn net.Conn) bool {
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return true
	}
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func peerProcess(conn *net.UnixConn) (pid int32, _ error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	return peer.Pid, nil
}

// containerID returns the id of the container whose cgroups, as in /proc/PID/cgroup, these
// are: the last part of their path, without what a systemd driver puts around it. Of several
// hierarchies (cgroups(7), version 1) the deepest path counts. It is empty in the root.
func containerID(cgroups string) string {
	deepest := ""
	for line := range strings.Lines(cgroups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && strings.Count(parts[2], "/") > strings.Count(deepest, "/") {
			deepest = parts[2]
		}
	}
	id := strings.TrimSuffix(path.Base(deepest), ".scope")
	if id == "." || id == "/" {
		return ""
	}
	return strings.TrimPrefix(id, "cri-containerd-")
}

func (c *Collector) path(id string) (string, error) {
	if known := c.known(id); known != "" {
		return known, nil
	}
	found, err := c.config.Path(c.ctx, id)
	if err != nil {
		return "", fmt.Errorf("finding container %s: %w", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paths[id] = found
	return found, nil
}

func (c *Collector) known(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paths[id]
}
