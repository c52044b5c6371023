package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/files"
)

// Stdio is the name of a file that stands for standard input or standard output.
const Stdio = "-"

// Export builds targets, and writes an archive of them to a file, or to stdout if that is
// its name. The file is there once it is complete. exporter is the version of this skewrig.
func Export(ctx context.Context, builder *build.Builder, targets []build.Target, exporter, path string, stdout io.Writer) (built []build.Binary, err error) {
	write := func(to io.Writer) (err error) {
		built, err = builder.ExportArchive(ctx, targets, exporter, to)
		return buildError(err, nil)
	}
	if path == Stdio {
		err = write(stdout)
	} else {
		err = replaceFile(path, write)
	}
	return built, err
}

// replaceFile is files.Write. An error after a complete write is one of this machine; any other is
// that of the path, or of write.
func replaceFile(path string, write func(io.Writer) error) error {
	complete := false
	err := files.Write(path, 0o644, func(to io.Writer) error {
		err := write(to)
		complete = err == nil
		return err
	})
	if complete {
		return Failed(err)
	}
	return err
}

// Import puts what is in an archive into the cache of a builder, from a file, or from
// stdin if that is its name. importer is the version of this skewrig.
func Import(ctx context.Context, builder *build.Builder, importer, path string, stdin io.Reader) ([]build.Binary, error) {
	archive := stdin
	if path != Stdio {
		f, err := files.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		archive = f
	}
	imported, err := builder.Import(ctx, archive, importer)
	if unfit, is := errors.AsType[*build.ArchiveError](err); is {
		return nil, fmt.Errorf("importing %s: %w", path, unfit)
	}
	return imported, Failed(err)
}
