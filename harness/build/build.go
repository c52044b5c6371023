package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	// Progress is called with what happens to each target. It may be called from
	// several goroutines. It may be unset.
	Progress func(Progress)

	mu     sync.Mutex
	known  map[string]Binary       // by target
	failed map[string]*TargetError // by target
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
	Target  Target
	State   State
	Elapsed time.Duration
}

// State is where the work on a target stands.
type State string

// The states of a target. Cached and Built are final.
const (
	Waiting   State = "waiting" // another build of the same binary is at work
	Compiling State = "compiling"
	Built     State = "built"
	Cached    State = "cached"
	Provided  State = "provided"
)

// Binary is an executable that is ready to run.
type Binary struct {
	Component Component       `json:"component"`
	Version   release.Version `json:"version"`
	Path      string          `json:"path"`
	// Source is the module that it was built from, with its version, or "given"
	// for a ready-made binary.
	Source string `json:"source"`
	// Digest is "sha256:" and the hex digest of the file.
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
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

// Binary returns the binary of one target, building it if needed. What it has
// returned once it returns again without looking at the file again, so that a
// run uses the binary that its report names, and what could not be built is not
// tried again.
func (b *Builder) Binary(ctx context.Context, t Target) (Binary, error) {
	t = b.overlaid(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.known[t.id()]; ok {
		return known, nil
	}
	if failed, ok := b.failed[t.id()]; ok {
		return Binary{}, failed
	}
	if b.known == nil {
		b.known, b.failed = make(map[string]Binary), make(map[string]*TargetError)
	}
	binary, err := b.one(ctx, t)
	if err != nil {
		failed := &TargetError{Target: t, Err: err}
		if ctx.Err() == nil {
			b.failed[t.id()] = failed
		}
		return Binary{}, failed
	}
	b.known[t.id()] = binary
	return binary, nil
}

// Build returns a binary for each target, in their order, compiling what is
// not in the cache. Compilations run one after the other: the Go command keeps
// all cores busy with one. Nothing is compiled if there is no such release. All
// failures are reported together, as Errors, and the binaries are those that could be
// built.
func (b *Builder) Build(ctx context.Context, targets []Target) ([]Binary, error) {
	var failures Errors
	for _, t := range targets {
		if _, _, err := b.prepare(ctx, b.overlaid(t)); errors.Is(err, ErrNoRelease) {
			failures = append(failures, &TargetError{Target: t, Err: err})
		}
	}
	if len(failures) > 0 {
		return nil, failures
	}
	var binaries []Binary
	for _, t := range targets {
		binary, err := b.Binary(ctx, t)
		if err != nil {
			failure, _ := errors.AsType[*TargetError](err)
			failures = append(failures, failure)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		binaries = append(binaries, binary)
	}
	if len(failures) > 0 {
		return binaries, failures
	}
	return binaries, nil
}

// prepare finds what a target is made of. The recipe is nil for a target of
// which there is a ready-made binary.
func (b *Builder) prepare(ctx context.Context, t Target) (store, *recipe, error) {
	if b.given(t) != "" {
		return store{}, nil, nil
	}
	s, err := b.store()
	if err != nil {
		return s, nil, err
	}
	r, err := newRecipe(ctx, s, t)
	return s, r, err
}

func (b *Builder) one(ctx context.Context, t Target) (Binary, error) {
	start := time.Now()
	tell := func(s State) {
		if b.Progress != nil {
			b.Progress(Progress{Target: t, State: s, Elapsed: time.Since(start)})
		}
	}
	if path := b.given(t); path != "" {
		binary, err := provided(ctx, t, path)
		if err == nil {
			tell(Provided)
		}
		return binary, err
	}
	store, recipe, err := b.prepare(ctx, t)
	if err != nil {
		return Binary{}, err
	}
	entry := store.entry(t, recipe.key())
	if binary, err := entry.load(); err == nil || !errors.Is(err, os.ErrNotExist) {
		if err == nil {
			tell(Cached)
		}
		return binary, err
	}

	unlock, err := entry.lock(ctx, func() { tell(Waiting) })
	if err != nil {
		return Binary{}, err
	}
	defer unlock()
	if binary, err := entry.load(); err == nil { // built by whoever held the lock
		tell(Cached)
		return binary, nil
	}
	tell(Compiling)
	binary, err := entry.create(recipe, func(out string) error { return recipe.make(ctx, store, out) })
	if err == nil {
		tell(Built)
	}
	return binary, err
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
	return store{dir: dir}, os.MkdirAll(dir, 0o700)
}

func (b *Builder) given(t Target) string {
	for _, g := range b.Given {
		if g.Component == t.Component && len(t.Overlay) == 0 && !t.Clock && (g.Version == t.Version || t.Component == Etcd) {
			return g.Path
		}
	}
	return ""
}
