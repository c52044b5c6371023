package build

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/skewrig/skewrig/harness/release"
)

// What an archive can have at most. Real ones have far less: a binary has about 100 MB.
const (
	maxFiles  = 500
	maxSmall  = 1 << 20 // a file that is no binary
	maxBinary = 1 << 30
	maxBytes  = 16 << 30 // all binaries
	maxWindow = 32 << 20 // what the decoder keeps in memory
)

// again ends an error about a file that is not what was exported.
const again = "copy the archive again, or export it again"

// unpack writes the files of an archive to the stage. Who made it may mean harm: it takes
// nothing that ExportArchive does not write.
func (a *arrival) unpack(ctx context.Context, archive io.Reader) error {
	unpacked, err := zstd.NewReader(archive, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return unreadable(err)
	}
	defer unpacked.Close()
	files := tar.NewReader(unpacked)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unreadable(err)
		}
		if err := a.file(ctx, header, files); err != nil {
			return err
		}
	}
	switch n, err := unpacked.Read(make([]byte, 1)); { // which also reads the checksum
	case n > 0:
		return wrong("something follows after its end: %s", again)
	case !errors.Is(err, io.EOF):
		return unreadable(err)
	}
	return a.complete()
}

// unreadable is the error for an archive that can't be read to its end. One that names a
// path is about a file of this machine.
func unreadable(err error) error {
	if _, is := errors.AsType[*fs.PathError](err); is {
		return err
	}
	if errors.Is(err, zstd.ErrMagicMismatch) {
		return wrong("it is no archive that skewrig build save has written")
	}
	return wrong("it is damaged or cut off (%w): %s", err, again)
}

// file takes one file of an archive.
func (a *arrival) file(ctx context.Context, h *tar.Header, content io.Reader) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a.files++; a.files > maxFiles {
		return wrong("it has more than %d files", maxFiles)
	}
	if h.Typeflag != tar.TypeReg {
		return wrong("%s in it is no plain file", h.Name)
	}
	switch e, file, is := a.stage.member(h.Name); {
	case is && file == manifestFile:
		return a.manifest(e, h, content)
	case is:
		return a.binary(ctx, e, h, content)
	case h.Name == exporterFile || h.Name == toolchainFile || lockFile.MatchString(h.Name):
		_, err := a.small(h, content)
		return err
	default:
		return wrong("%s is no file of such an archive", h.Name)
	}
}

// What paths in an archive are.
var (
	lockFile = regexp.MustCompile(`^generated-locks/[0-9A-Za-z][0-9A-Za-z.-]*\.(mod|sum)$`)
	keyText  = regexp.MustCompile(`^[0-9a-f]{24}$`)
)

// member reads the path of a file in an entry. It is not one if it is not exactly as
// ExportArchive writes it.
func (s store) member(name string) (e entry, file string, is bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 5 || parts[0] != "bin" || !keyText.MatchString(parts[3]) {
		return e, "", false
	}
	t := Target{Component: Component(parts[1]), Version: release.Version(parts[2])}
	_, err := release.Parse(parts[2])
	file = parts[4]
	return s.entry(t, parts[3]), file, t.Component.isKnown() && (err == nil || t.isReference()) && (file == manifestFile || file == parts[1])
}

// small takes a file that is no binary.
func (a *arrival) small(h *tar.Header, content io.Reader) ([]byte, error) {
	if a.checked {
		return nil, wrong("%s in it comes after a binary: %s", h.Name, again)
	}
	if h.Size > maxSmall {
		return nil, wrong("%s in it has %d bytes, more than %d", h.Name, h.Size, maxSmall)
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return nil, unreadable(err)
	}
	f, err := a.create(h.Name, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text)
	return text, errors.Join(err, f.Close())
}

// create creates a file on the stage.
func (a *arrival) create(name string, mode fs.FileMode) (*os.File, error) {
	if err := a.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	f, err := a.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil, wrong("%s is in it twice: %s", name, again)
	}
	return f, err
}

// manifest takes the manifest of an entry.
func (a *arrival) manifest(e entry, h *tar.Header, content io.Reader) error {
	text, err := a.small(h, content)
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return wrong("%s in it can't be read (%w): %s", h.Name, err, again)
	}
	a.bytes += m.Bytes
	switch {
	case !e.isOf(m):
		return wrong("%s in it is of another recipe than the name says: %s", h.Name, again)
	case len(m.Target.Overlay) > 0:
		return wrong("%s in it is patched, which can't be imported: build it here with --overlay", m.Target)
	case m.Bytes <= 0 || m.Bytes > maxBinary || a.bytes > maxBytes:
		return wrong("%s in it has %d bytes, more than a component has: %s", m.Target, m.Bytes, again)
	}
	e.target = m.Target
	a.entries = append(a.entries, &arriving{entry: e, manifest: m})
	return nil
}

// binary takes the binary of an entry.
func (a *arrival) binary(ctx context.Context, e entry, h *tar.Header, content io.Reader) error {
	if err := a.check(ctx); err != nil {
		return err
	}
	i := slices.IndexFunc(a.entries, func(known *arriving) bool { return known.dir == e.dir })
	if i < 0 {
		return wrong("%s in it has no manifest: %s", h.Name, again)
	}
	of := a.entries[i]
	if h.Size != of.manifest.Bytes {
		return wrong("%s in it has %d bytes, built were %d: %s", h.Name, h.Size, of.manifest.Bytes, again)
	}
	f, err := a.create(h.Name, 0o755)
	if err != nil {
		return err
	}
	start := time.Now()
	a.builder.tell(of.target, Progress{State: Importing}, start)
	digest, _, err := copyDigested(f, content)
	switch closeErr := f.Close(); {
	case err != nil:
		return unreadable(err)
	case closeErr != nil:
		return closeErr
	case digest != of.manifest.Digest:
		return wrong("%s in it has the digest %s, built was %s: %s", h.Name, digest, of.manifest.Digest, again)
	}
	of.unpacked, of.took = true, time.Since(start)
	return nil
}

// complete is an error if something is missing.
func (a *arrival) complete() error {
	if len(a.entries) == 0 {
		return wrong("it has no components: %s", again)
	}
	for _, e := range a.entries {
		if !e.unpacked {
			return wrong("the binary of %s is missing in it: %s", e.target, again)
		}
	}
	return nil
}
