package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/record"
)

// Where a socket is below the directory of a kubelet: ReleasedPlace is where
// released ones have it, ProposedPlace where KEP-4188 says that it is.
const (
	ReleasedPlace = "pods-api/pods-api.sock"
	ProposedPlace = "pods/kubelet.sock"
)

// Places are where a kubelet may have its socket, below its own directory. The
// reference has one at each: what it serves is at the place that is proposed.
var Places = []string{ProposedPlace, ReleasedPlace}

// Find finds the socket below a kubelet's directory, and says how it is, its path as
// one of Places. Where there is none, the path is the first that it could have.
func Find(root string) (path string, found record.PodsSocket) {
	for _, place := range Places {
		path := filepath.Join(root, place)
		if s := Stat(path); s.Path != "" {
			s.Path = place
			return path, s
		}
	}
	return filepath.Join(root, Places[0]), record.PodsSocket{}
}

// Remove takes the sockets below a kubelet's directory away. The error is that of
// none being there.
func Remove(root string) error {
	_, err := remove(root)
	return err
}

// remove returns where the sockets were.
func remove(root string) (paths []string, err error) {
	path, found := Find(root)
	if found.Path == "" {
		return nil, fmt.Errorf("there is no socket below %s", root)
	}
	for ; found.Path != ""; path, found = Find(root) {
		if err := os.Remove(path); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Block takes the sockets below a kubelet's directory away, and has directories in their
// places, which no server replaces by a socket. The error is that of none being there.
func Block(root string) error {
	paths, err := remove(root)
	for _, path := range paths {
		err = errors.Join(err, os.Mkdir(path, 0o700))
	}
	return err
}

// Stat says what is at a path.
func Stat(path string) record.PodsSocket {
	socket, err := os.Stat(path)
	if err != nil {
		return record.PodsSocket{}
	}
	s := record.PodsSocket{Path: path, Mode: permissions(socket.Mode())}
	if dir, err := os.Stat(filepath.Dir(path)); err == nil {
		s.DirMode = permissions(dir.Mode())
	}
	return s
}

// permissions are a mode as ls writes it.
func permissions(mode os.FileMode) string {
	kind := "-"
	switch {
	case mode.IsDir():
		kind = "d"
	case mode&os.ModeSocket != 0:
		kind = "s"
	}
	return kind + mode.Perm().String()[1:]
}
