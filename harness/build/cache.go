package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/skewrig/skewrig/harness/files"
)

// store is the cache directory:
//
//	bin/<component>/<version>/<key>/<component>   the binary
//	bin/<component>/<version>/<key>/entry.json    what it is made of, and its digest
//	locks/<key>.lock                              held while the entry is built
//	generated-locks/<name>.mod, .sum              locks of releases that have no committed one
//	work/...                                      extracted sources
//	toolchain                                     in an exported cache: what made its entries, one in each line
type store struct {
	dir string
	// toolchains says which Go compiles. If unset, it is LocalToolchain.
	toolchains Toolchain
}

func (s store) bin() string { return filepath.Join(s.dir, "bin") }

func (s store) work() string { return filepath.Join(s.dir, "work") }

// entry is one binary in the cache. It exists once its directory does: the
// directory is renamed into place when all of it is written.
type entry struct {
	target Target
	dir    string
	locked string
}

// manifestFile is the name of an entry's manifest.
const manifestFile = "entry.json"

// manifest says what an entry is.
type manifest struct {
	Target  Target    `json:"target"`
	Recipe  []string  `json:"recipe"`
	Digest  string    `json:"digest"`
	Bytes   int64     `json:"bytes"`
	Created time.Time `json:"created"`
}

func (s store) entry(t Target, key string) entry {
	return entry{
		target: t,
		dir:    filepath.Join(s.bin(), string(t.Component), string(t.Version), key),
		locked: filepath.Join(s.dir, "locks", key+".lock"),
	}
}

func (e entry) binary() string { return filepath.Join(e.dir, string(e.target.Component)) }

// load returns the entry's binary after checking that it is what was built. An
// entry that is not there is os.ErrNotExist.
func (e entry) load() (Binary, error) {
	m, err := readManifest(e.dir)
	if err != nil {
		return Binary{}, err
	}
	if !e.isOf(m) {
		return Binary{}, e.damaged(fmt.Errorf("it holds %s, of another recipe", m.Target))
	}
	digest, size, err := digestFile(e.binary())
	if err != nil {
		return Binary{}, e.damaged(err)
	}
	if digest != m.Digest {
		return Binary{}, e.damaged(fmt.Errorf("%d bytes with digest %s, built were %d bytes with %s", size, digest, m.Bytes, m.Digest))
	}
	return e.holding(digest, size, true), nil
}

// key is that of the recipe by which the entry is found.
func (e entry) key() string { return filepath.Base(e.dir) }

// isOf reports whether a manifest can be the entry's.
func (e entry) isOf(m manifest) bool {
	return m.Target.Component == e.target.Component && m.Target.Version == e.target.Version && recipeKey(m.Recipe) == e.key()
}

// holding is the entry's binary.
func (e entry) holding(digest string, size int64, cached bool) Binary {
	return Binary{
		Component: e.target.Component, Version: e.target.Version, Path: e.binary(),
		Source: e.target.source(), StandIns: e.target.standInNames(), Digest: digest, Bytes: size, Go: compiledWith(e.binary()), Cached: cached,
	}
}

// damaged is deliberately not mended silently: a binary that changed after it
// was built may have been run already.
func (e entry) damaged(err error) error {
	// The cause is text, not wrapped: a file that is missing here does not mean
	// that the entry is.
	return fmt.Errorf("the cache entry %s was changed after it was built (%s); remove that directory to build it again", e.dir, err.Error())
}

// create fills the entry: compile writes the binary, and the whole directory
// then moves into place at once.
func (e entry) create(r *recipe, compile func(out string) error) (_ Binary, err error) {
	parent := filepath.Dir(e.dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return Binary{}, err
	}
	temp, err := os.MkdirTemp(parent, incomplete+e.key()+"-")
	if err != nil {
		return Binary{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()

	out := filepath.Join(temp, string(e.target.Component))
	if err := compile(out); err != nil {
		return Binary{}, err
	}
	digest, size, err := digestFile(out)
	if err != nil {
		return Binary{}, err
	}
	m := manifest{Target: e.target, Recipe: r.lines, Digest: digest, Bytes: size, Created: time.Now().UTC()}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return Binary{}, err
	}
	if err := writeFile(filepath.Join(temp, manifestFile), text); err != nil {
		return Binary{}, err
	}
	if err := e.place(temp); err != nil {
		return Binary{}, err
	}
	return e.holding(digest, size, false), nil
}

// place moves a directory with all that the entry holds into its place. What is there
// without a manifest was left by a removal that was cut off.
func (e entry) place(dir string) error {
	return errors.Join(os.RemoveAll(e.dir), os.Rename(dir, e.dir))
}

// incomplete begins the name of an entry's directory while it is filled.
const incomplete = "incomplete-"

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 100 * time.Millisecond

// lock takes the entry's lock, so that two builds of the same binary, in one
// process or in two, don't do the work twice. The kernel releases it when the
// holder dies. waiting is called if another process holds it.
func (e entry) lock(ctx context.Context, waiting func()) (unlock func(), err error) {
	return flock(ctx, e.locked, waiting)
}

// flock locks a file, which it creates. waiting is called if another process holds it.
func flock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	waiting = sync.OnceFunc(waiting)
	err = wait.PollUntilContextCancel(ctx, lockPoll, true, func(context.Context) (bool, error) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			waiting()
			return false, nil
		}
		return true, err
	})
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(context.Cause(ctx), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which releases the lock
}

// Entry is a binary in the cache, as listed.
type Entry struct {
	Target  Target    `json:"target"`
	Key     string    `json:"key"`
	Path    string    `json:"path"`
	Bytes   int64     `json:"bytes"`
	Created time.Time `json:"created"`
}

// List returns what the cache holds, ordered by component, version and key.
func (b *Builder) List() ([]Entry, error) {
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	dirs, err := filepath.Glob(filepath.Join(s.bin(), "*", "*", "*"))
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, dir := range dirs {
		m, err := readManifest(dir)
		if err != nil {
			continue // not complete: still being built, or left by a killed build
		}
		entries = append(entries, Entry{
			Target: m.Target, Key: filepath.Base(dir), Bytes: m.Bytes, Created: m.Created,
			Path: filepath.Join(dir, string(m.Target.Component)),
		})
	}
	return entries, nil
}

// Prune removes entries for which keep returns false, and what killed builds
// left. It returns what it removed.
func (b *Builder) Prune(keep func(Entry) bool) ([]Entry, error) {
	entries, err := b.List()
	if err != nil {
		return nil, err
	}
	var removed []Entry
	for _, e := range entries {
		if keep(e) {
			continue
		}
		if err := os.RemoveAll(filepath.Dir(e.Path)); err != nil {
			return removed, err
		}
		removed = append(removed, e)
	}
	return removed, b.pruneIncomplete()
}

// abandoned is the age from which an unfinished directory is unused: no build
// takes that long.
const abandoned = 2 * time.Hour

func (b *Builder) pruneIncomplete() error {
	s, err := b.store()
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(s.bin(), "*", "*", incomplete+"*"))
	scratch, alsoErr := filepath.Glob(filepath.Join(s.work(), "scratch-*"))
	if err := errors.Join(err, alsoErr); err != nil {
		return err
	}
	for _, dir := range append(left, scratch...) {
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < abandoned {
			continue // perhaps still at work
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

func readManifest(dir string) (manifest, error) {
	var m manifest
	if strings.HasPrefix(filepath.Base(dir), incomplete) {
		return m, os.ErrNotExist
	}
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("reading the cache entry %s: %w; remove that directory to build it again", dir, err)
	}
	return m, nil
}

func digestFile(path string) (digest string, size int64, err error) {
	f, err := files.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	if digest, size, err = copyDigested(io.Discard, f); err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", path, err)
	}
	return digest, size, nil
}

// copyDigested copies a file, and returns the digest and the size of what it copied.
func copyDigested(to io.Writer, from io.Reader) (digest string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(to, h), from)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), size, err
}
