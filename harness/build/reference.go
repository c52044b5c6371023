package build

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// The reference is the newest kubelet with our Pods API server: podsServer of the
// release is replaced by kubeletServer, and that imports packages of this module,
// which is compiled from the sources in skewrig.PodsAPI.
const (
	podsServer    = "pkg/kubelet/apis/pods/server.go"
	kubeletServer = "podsapi/server/kubelet.go.txt"
	// referenceDir is where a work tree has our module.
	referenceDir = "reference"
)

// isReference reports whether a target is a kubelet with our Pods API server.
func (t Target) isReference() bool { return t.Version == release.Reference }

// addReference adds the sources of our Pods API server to a recipe.
func (r *recipe) addReference() error {
	r.module = map[string][]byte{"go.mod": []byte("module " + program.Skewrig + "\n\ngo 1.26.0\n")}
	err := fs.WalkDir(skewrig.PodsAPI, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		r.module[path], err = fs.ReadFile(skewrig.PodsAPI, path)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading our Pods API server: %w", err)
	}
	r.tree = append(r.tree, digests("reference", r.module)...)
	r.overlay[podsServer], err = fs.ReadFile(skewrig.PodsAPI, kubeletServer)
	return err
}

// extractReference writes our module into a work tree, and has the lock use it.
func (r *recipe) extractReference(dir string, mod []byte) ([]byte, error) {
	for path, text := range r.module {
		if err := writeBelow(filepath.Join(dir, referenceDir), path, text); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(mod, "\nrequire %s v0.0.0\nreplace %s => ./%s\n", program.Skewrig, program.Skewrig, referenceDir), nil
}
