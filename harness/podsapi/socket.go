package podsapi

import (
	"os"
	"path/filepath"
)

// Where a socket is below the directory of a kubelet: ReleasedPlace is where
// released ones have it, ProposedPlace where KEP-4188 says that it is.
const (
	ReleasedPlace = "pods-api/pods-api.sock"
	ProposedPlace = "pods/kubelet.sock"
)

// Places are where a kubelet may have its socket, below its own directory.
var Places = []string{ReleasedPlace, ProposedPlace}

// Find finds the socket below a kubelet's directory, and says how it is, its path as
// one of Places. Where there is none, the path is the first that it could have.
func Find(root string) (path string, found Socket) {
	for _, place := range Places {
		path := filepath.Join(root, place)
		if s := Stat(path); s.Path != "" {
			s.Path = place
			return path, s
		}
	}
	return filepath.Join(root, Places[0]), Socket{}
}

// Socket is a socket as a client finds it.
type Socket struct {
	// Path is where it is, below the kubelet's directory if it was looked for
	// there. Empty if there is none.
	Path string `json:"path"`
	// Mode and DirMode are the permissions of the socket and of the directory
	// that it is in, as ls writes them: "srwx------".
	Mode    string `json:"mode"`
	DirMode string `json:"dirMode"`
}

// Stat says what is at a path.
func Stat(path string) Socket {
	socket, err := os.Stat(path)
	if err != nil {
		return Socket{}
	}
	s := Socket{Path: path, Mode: permissions(socket.Mode())}
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
