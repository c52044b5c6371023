package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skewrig/skewrig/harness/release"
)

// Builder builds binaries into a cache.
type Builder struct {
	// Dir is the cache directory. If unset, "skewrig" in the user's cache
	// directory.
	Dir string
	// Given are binaries that are used instead of building. If unset, all are
	// built.
	Given []Given
	// Overlays are compiled into the targets that they apply to. If unset, each is compiled
	// as it was published.
	Overlays []Overlay
	// StandIns are compiled instead of modules that releases of Kubernetes ask for. If unset, nothing is but what is
	// known to be missing.
	StandIns []StandIn
	// Sources are checkouts that stand in for releases; Open adds one. If unset, there are
	// none.
	Sources []Source
	// Pair are the releases that newest and previous stand for. If unset, the default ones. Its Sources are unset.
	Pair release.Releases
	// Toolchain says which Go compiles Kubernetes. If unset, it is LocalToolchain.
	Toolchain Toolchain
	// Progress is called with what happens to each target. It may be called from
	// several goroutines. It may be unset.
	Progress func(Progress)

	mu        sync.Mutex
	works     map[string]*work // by target
	compiling sync.Mutex       // one at a time: the Go command keeps all cores busy with one
}

// Given is a ready-made binary.
type Given struct {
	Component Component
	// Version is the release that the binary stands for: its own, if it was
	// described by Describe. etcd stands for every version.
	Version release.Version
	Path    string
}

// Progress is one step of the work on one target.
type Progress struct {
	Target Target
	State  State
	// Elapsed is how long the target is at work, and Compiled how long it is compiled.
	Elapsed, Compiled time.Duration
	// Done are the modules that were downloaded, or the packages of Of that are compiled.
	Done, Of int
	// Err is why the target Failed.
	Err error
}

// State is where the work on a target stands.
type State string

// The states of a target.
const (
	Waiting     State = "waiting"     // another build of the same binary is at work
	Downloading State = "downloading" // modules, as they come
	Compiling   State = "compiling"   // packages, as they come
	Exporting   State = "exporting"
	Importing   State = "importing"

	// These are final.
	Built    State = "built"
	Cached   State = "cached"
	Provided State = "provided"
	Exported State = "exported"
	Imported State = "imported"
	Failed   State = "failed"
)

// IsFinal reports whether the work on the target has ended.
func (s State) IsFinal() bool {
	return slices.Contains([]State{Built, Cached, Provided, Exported, Imported, Failed}, s)
}

// ReadyMade is the Source of a binary that was given.
const ReadyMade = "given"

// Binary is an executable that is ready to run.
type Binary struct {
	Component Component       `json:"component"`
	Version   release.Version `json:"version"`
	Path      string          `json:"path"`
	// Source is the module that it was built from, with its version, or ReadyMade.
	Source string `json:"source"`
	// StandIns are modules that were compiled instead of those that its release asks for. If unset, none was.
	StandIns []string `json:"standIns,omitempty"`
	// Digest is "sha256:" and the hex digest of the file.
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
	// Go is the Go that compiled it, as the binary says. It is empty if the binary is of another language.
	Go string `json:"go,omitempty"`
	// Cached is true if it was in the cache already.
	Cached bool `json:"cached"`
}

// DefaultDir is the cache directory that is used if none is set.
func DefaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a cache directory (set --cache-dir): %w", err)
	}
	return filepath.Join(cache, "skewrig"), nil
}

// TargetError is why one target could not be built.
type TargetError struct {
	Target Target
	Err    error
}

func (e *TargetError) Error() string {
	if missing, is := errors.AsType[*NoRelease](e.Err); is {
		return missing.Error()
	}
	return fmt.Sprintf("building %s: %v", e.Target, e.Err)
}

// Unwrap returns the reason.
func (e *TargetError) Unwrap() error { return e.Err }

// Errors is all that could not be built.
type Errors []*TargetError

func (e Errors) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns the errors one by one.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

// tell tells where the work on a target stands that began at a time.
func (b *Builder) tell(t Target, p Progress, began time.Time) {
	if b.Progress != nil {
		p.Target, p.Elapsed = t, time.Since(began)
		b.Progress(p)
	}
}

// Source returns the directory with the sources of a Kubernetes release, as
// they are compiled. It is not to be changed.
func (b *Builder) Source(ctx context.Context, v release.Version) (string, error) {
	s, err := b.store()
	if err != nil {
		return "", err
	}
	return downloadModule(ctx, s.dir, Target{Component: Kubelet, Version: v})
}

func (b *Builder) store() (store, error) {
	dir := b.Dir
	if dir == "" {
		var err error
		if dir, err = DefaultDir(); err != nil {
			return store{}, err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return store{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return store{}, err
	}
	return store{dir: dir, toolchains: b.Toolchain}, owned(dir)
}

func (b *Builder) given(t Target) string {
	for _, g := range b.Given {
		if g.Component == t.Component && len(t.Overlay) == 0 && !t.Clock && (g.Version == t.Version || t.Component == Etcd) {
			return g.Path
		}
	}
	return ""
}
