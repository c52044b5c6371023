package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/modfile"

	"github.com/skewrig/skewrig"
)

// Module returns the directory with the sources of a module that skewrig is made with, in the
// version of that. It is not to be changed.
func (b *Builder) Module(ctx context.Context, path string) (dir string, err error) {
	s, err := b.store()
	if err != nil {
		return "", err
	}
	if err := s.stub(); err != nil {
		return "", err
	}
	text, err := fs.ReadFile(skewrig.Container, "go.mod")
	if err != nil {
		return "", err
	}
	own, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return "", err
	}
	for _, r := range own.Require {
		if r.Mod.Path == path {
			dir, err = downloadVersion(ctx, s.dir, r.Mod.String())
			if err != nil {
				err = fmt.Errorf("downloading %s: %w", r.Mod, err)
			}
			return dir, err
		}
	}
	return "", fmt.Errorf("skewrig is not made with the module %s", path)
}

// downloadVersion fetches a module in a version, if it is not there yet.
func downloadVersion(ctx context.Context, dir, module string) (string, error) {
	out, err := goCommand(ctx, dir, []string{"mod", "download", "-json", module})
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(out), &answer); jsonErr == nil && answer.Error != "" {
		if err = unreachable(answer.Error); err == nil {
			err = errors.New(answer.Error + onLine(newerGo(answer.Error)))
		}
	}
	return answer.Dir, err
}
