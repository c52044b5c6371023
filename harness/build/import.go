package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ArchiveError is what is wrong with an archive, or why this machine can't use it. Other
// errors of Import are about the machine.
type ArchiveError struct{ Err error }

// Error says what is wrong.
func (e *ArchiveError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *ArchiveError) Unwrap() error { return e.Err }

// wrong is an error about an archive.
func wrong(format string, args ...any) error { return &ArchiveError{fmt.Errorf(format, args...)} }

// Import puts what an archive of ExportArchive holds into the cache, and returns it. An
// entry that is there is checked and kept: its Binary is Cached. All of the archive is
// checked before the cache gets an entry. importer is the version of this skewrig.
func (b *Builder) Import(ctx context.Context, archive io.Reader, importer string) (_ []Binary, err error) {
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	dir, err := s.scratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	a := &arrival{builder: b, cache: s, stage: store{dir: dir, toolchains: b.Toolchain}, root: root, importer: importer}
	if err := a.unpack(ctx, archive); err != nil {
		return nil, err
	}
	return a.adopt(ctx)
}

// arrival is an archive that is imported. Its files are unpacked to a stage, which is a
// cache of its own below the real one, so that entries move from it at once.
type arrival struct {
	builder  *Builder
	cache    store
	stage    store
	root     *os.Root // the directory of the stage: nothing is written outside of it
	importer string

	entries []*arriving
	files   int   // how many there were so far
	bytes   int64 // what all binaries have
	checked bool  // this machine can use them
}

// arriving is an entry on the stage.
type arriving struct {
	entry

	manifest manifest
	unpacked bool          // its binary is there, too
	took     time.Duration // to unpack it
}

// adopt moves all that is on the stage into the cache.
func (a *arrival) adopt(ctx context.Context) (binaries []Binary, _ error) {
	if err := a.adoptShared(); err != nil {
		return nil, err
	}
	for _, e := range a.entries {
		start := time.Now().Add(-e.took)
		binary, err := e.moveTo(ctx, a.cache.entry(e.target, e.key()), func() { a.builder.tell(e.target, Progress{State: Waiting}, start) })
		if err != nil {
			return binaries, err
		}
		state := Imported
		if binary.Cached {
			state = Cached
		}
		a.builder.tell(e.target, Progress{State: state}, start)
		binaries = append(binaries, binary)
	}
	return binaries, nil
}

// adoptShared has the cache find the entries: by generated locks, and without a Go command
// by the toolchain. What it has is the same, or never looked at.
func (a *arrival) adoptShared() error {
	for _, e := range a.entries {
		if _, err := a.cache.knownLock(e.target); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		l, err := a.stage.knownLock(e.target)
		if err == nil {
			err = l.write(a.cache.dir, generatedLock(e.target))
		}
		if err != nil {
			return err
		}
	}
	known := a.cache.exportedWith()
	for _, theirs := range a.stage.exportedWith() {
		if !slices.Contains(known, theirs) {
			known = append(known, theirs)
		}
	}
	return a.cache.writeExportedWith(known)
}

// moveTo moves an entry to another cache, unless it is there. waiting is called if another
// process makes it there.
func (e *arriving) moveTo(ctx context.Context, to entry, waiting func()) (Binary, error) {
	unlock, err := to.lock(ctx, waiting)
	if err != nil {
		return Binary{}, err
	}
	defer unlock()
	if there, err := to.load(); !errors.Is(err, fs.ErrNotExist) {
		return there, err
	}
	if err := os.MkdirAll(filepath.Dir(to.dir), 0o700); err != nil {
		return Binary{}, err
	}
	if err := to.place(e.dir); err != nil {
		return Binary{}, err
	}
	return to.holding(e.manifest.Digest, e.manifest.Bytes, false), nil
}
