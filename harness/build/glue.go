package build

import (
	_ "embed"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/program"
)

// glueArchive holds the sources of our mains. They live in a nested module,
// harness/engine, which an embed directive can't reach and an installed skewrig
// doesn't have; so they are packed into a file, and a test sees to it that the
// file is current.
//
//go:generate go run ./internal/packglue ../engine glue.txtar
//go:embed glue.txtar
var glueArchive []byte

// nodeE2EMain runs specs of SIG Node.
//
//go:embed nodee2e.go.txt
var nodeE2EMain []byte

// source is what a component is compiled from.
type source struct{ program.Program }

// mains are our mains that are compiled with the lock of a component.
func (s source) mains() []txtar.File {
	if s.Name == program.NodeE2E {
		return []txtar.File{{Name: path.Base(s.Package) + "/main.go", Data: nodeE2EMain}}
	}
	if s.OwnLock {
		return nil
	}
	return txtar.Parse(glueArchive).Files
}

// glueFiles are those of our mains that a component is compiled from.
func (s source) glueFiles() []byte {
	var own txtar.Archive
	for _, f := range s.mains() {
		if s.IsOurs() && strings.HasPrefix(f.Name, path.Base(s.Package)+"/") {
			own.Files = append(own.Files, f)
		}
	}
	return txtar.Format(&own)
}

// extractGlue writes the mains that have the lock of a component, and the go.mod of their
// module, in which the lock stands in for the real one.
func extractGlue(dir string, s source, c choice) error {
	if err := writeFile(filepath.Join(dir, "go.mod"), []byte("module "+program.Mains+"\n"+c.lines)); err != nil {
		return err
	}
	for _, f := range s.mains() {
		if err := writeBelow(dir, f.Name, f.Data); err != nil {
			return err
		}
	}
	return nil
}

func (s store) scratch() (string, error) {
	if err := os.MkdirAll(s.work(), 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(s.work(), "scratch-")
}

// writeBelow writes a file with its directories, by its path below a directory.
func writeBelow(dir, path string, text []byte) error {
	to := filepath.Join(dir, filepath.FromSlash(path))
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), writeFile(to, text))
}

// writeFile writes a file of the cache completely or not at all.
func writeFile(path string, text []byte) error { return files.WriteBytes(path, 0o600, text) }

// modfileName is the lock's name in a work directory. The Go command wants a
// go.mod beside it, and takes the sums from the file of the same name.
const modfileName = "lock.mod"

// stub is the go.mod of a cache.
const stub = "module cache\n"
