package jobs

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// Pack writes files as a compressed archive.
func Pack(w io.Writer, files fs.FS) error {
	zipped := gzip.NewWriter(w)
	packed := tar.NewWriter(zipped)
	return errors.Join(packed.AddFS(files), packed.Close(), zipped.Close())
}

// maxUnpacked is how many bytes an archive may have, and how many its files: what comes from a cluster is not trusted to end,
// and a sparse file takes more than the archive has of it.
const maxUnpacked = 16 << 30

// Unpack reads such an archive into a directory, which is made. Nothing is written outside of it, and nothing but
// files and directories.
func Unpack(r io.Reader, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("reading an archive of files: %w", err)
	}
	limited := io.LimitReader(zipped, maxUnpacked)
	packed := tar.NewReader(limited)
	left := int64(maxUnpacked)
	for {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, limited) // its checksum
			return err
		}
		if err == nil && header.Size > left {
			err = fmt.Errorf("%s: its files have more than %d GiB", header.Name, int64(maxUnpacked)>>30)
		}
		if err == nil {
			left -= header.Size
			err = unpackOne(root, header, packed)
		}
		if err != nil {
			return fmt.Errorf("reading an archive of files: %w", err)
		}
	}
}

func unpackOne(root *os.Root, header *tar.Header, content io.Reader) error {
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(path.Clean(header.Name), 0o755)
	case tar.TypeReg:
		if err := root.MkdirAll(path.Dir(header.Name), 0o755); err != nil {
			return err
		}
		file, err := root.OpenFile(header.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	default:
		return fmt.Errorf("%s is neither a file nor a directory", header.Name)
	}
}
