package build

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// An archive carries a cache to other machines in one file: a tar, compressed with zstd, of
//
//	exporter                                      the version of skewrig that made it
//	toolchain                                     as in any cache that was exported
//	generated-locks/<name>.mod, .sum              as in the cache
//	bin/<component>/<version>/<key>/entry.json    of each entry
//	bin/<component>/<version>/<key>/<component>   of each entry
//
// in this order, so that who reads it knows before the first binary whether this machine
// can use them. The same entries make the same archive.

// exporterFile, in an archive, says which skewrig made it.
const exporterFile = "exporter"

// ExportArchive builds targets, and writes an archive of them, which Import reads. exporter
// is the version of this skewrig: a machine that can't use the archive tells it.
func (b *Builder) ExportArchive(ctx context.Context, targets []Target, exporter string, to io.Writer) ([]Binary, error) {
	x, built, err := b.exported(ctx, targets)
	if err != nil {
		return nil, err
	}
	packed, err := zstd.NewWriter(to)
	if err != nil {
		return nil, err
	}
	a := archiveWriter{tar.NewWriter(packed)}
	if err := errors.Join(a.describe(x, exporter), a.binaries(ctx, b, x.entries), a.tar.Close(), packed.Close()); err != nil {
		return nil, err
	}
	return built, nil
}

type archiveWriter struct{ tar *tar.Writer }

// describe writes what comes before the binaries.
func (a archiveWriter) describe(x exports, exporter string) error {
	err := errors.Join(a.text(exporterFile, []byte(exporter+"\n")), a.text(toolchainFile, textOf(x.toolchains)))
	for _, name := range slices.Sorted(maps.Keys(x.locks)) {
		err = errors.Join(err, a.text(name+".mod", x.locks[name].mod), a.text(name+".sum", x.locks[name].sum))
	}
	for _, e := range x.entries {
		text, readErr := os.ReadFile(filepath.Join(e.dir, manifestFile))
		err = errors.Join(err, readErr, a.text(path.Join(e.archived(), manifestFile), text))
	}
	return err
}

// binaries writes those of entries.
func (a archiveWriter) binaries(ctx context.Context, b *Builder, entries []entry) error {
	for _, e := range entries {
		start := time.Now()
		b.tell(e.target, Progress{State: Exporting}, start)
		if err := a.binary(e); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.tell(e.target, Progress{State: Exported}, start)
	}
	return nil
}

func (a archiveWriter) binary(e entry) error {
	f, err := os.Open(e.binary())
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return a.file(path.Join(e.archived(), string(e.target.Component)), 0o755, info.Size(), f)
}

func (a archiveWriter) text(name string, text []byte) error {
	return a.file(name, 0o644, int64(len(text)), bytes.NewReader(text))
}

func (a archiveWriter) file(name string, mode, size int64, content io.Reader) error {
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size, ModTime: time.Unix(0, 0)}
	if err := a.tar.WriteHeader(&header); err != nil {
		return err
	}
	_, err := io.Copy(a.tar, content)
	return err
}

// archived is where an archive has the entry.
func (e entry) archived() string {
	return path.Join("bin", string(e.target.Component), string(e.target.Version), e.key())
}
