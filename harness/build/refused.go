package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/skewrig/skewrig/harness/build/gotool"
)

// ErrRefused is the error for modules that a release asks for and that the module proxy does not serve, whichever they are.
var ErrRefused error = &Refused{}

// Refused is the error for some such modules.
type Refused struct {
	// Modules are those that the proxy does not serve, such as "k8s.io/api@v0.37.1", each with its answer.
	Modules []string
}

// Error implements error.
func (e *Refused) Error() string {
	return fmt.Sprintf("the module proxy does not serve %s (go env GOPROXY says which proxy; go env -w GOPROXY=URL sets another; --stand-in MODULE=VERSION compiles another version of one)", strings.Join(e.Modules, ", "))
}

// Is reports whether another error is ErrRefused.
func (e *Refused) Is(other error) bool { return other == ErrRefused }

// refusedOf returns an error that names all modules of a go.mod that the proxy does not serve, or nil if it serves
// them. The Go command itself ends at the first.
func refusedOf(ctx context.Context, dir string, mod []byte) error {
	modules, err := wantedBy(mod)
	if err != nil {
		return err
	}
	out, err := gotool.Run(ctx, dir, append([]string{"list", "-m", "-e", "-json=Path,Version,Error"}, modules...))
	if err != nil {
		return err
	}
	var refused Refused
	for answers := json.NewDecoder(strings.NewReader(out)); ; {
		var answer struct {
			Path, Version string
			Error         *struct{ Err string }
		}
		if err := answers.Decode(&answer); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading what the Go command lists: %w", err)
		}
		if answer.Error == nil {
			continue
		}
		if said, is := gotool.Answered(answer.Error.Err); is {
			refused.Modules = append(refused.Modules, fmt.Sprintf("%s@%s (%s)", answer.Path, answer.Version, said))
		}
	}
	if len(refused.Modules) == 0 {
		return nil
	}
	return &refused
}

// wantedBy returns the modules that a go.mod requires, each as it is replaced. Those in directories are there.
func wantedBy(mod []byte) (modules []string, err error) {
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Require {
		want := r.Mod
		for _, replaced := range file.Replace {
			if replaced.Old.Path == want.Path && (replaced.Old.Version == "" || replaced.Old.Version == want.Version) {
				want = replaced.New
			}
		}
		if modfile.IsDirectoryPath(want.Path) || module.Check(want.Path, want.Version) != nil {
			continue
		}
		if text := want.String(); !slices.Contains(modules, text) {
			modules = append(modules, text)
		}
	}
	return modules, nil
}
