package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// write writes the image where the options say, and tells what it is.
func (o options) write(w io.Writer, image v1.Image) error {
	if o.tarball != "" {
		tag, err := name.NewTag(o.tag)
		if err != nil {
			return err
		}
		if err := tarball.WriteToFile(o.tarball, tag, image); err != nil {
			return err
		}
	}
	if o.layout != "" {
		if err := writeLayout(o.layout, image); err != nil {
			return err
		}
	}
	digest, err := image.Digest()
	compressed, unpacked, sizeErr := sizes(image)
	fmt.Fprintf(w, "%s: %d MB, %d MB unpacked\n", digest, compressed/1e6, unpacked/1e6)
	return errors.Join(err, sizeErr)
}

// writeLayout writes the image as the only one of a layout. It replaces a layout that is
// there, once the new one is complete, and nothing else.
func writeLayout(dir string, image v1.Image) (err error) {
	dir = filepath.Clean(dir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "oci-layout" }) {
		return fmt.Errorf("%s is no OCI layout, and not empty: it is not replaced", dir)
	}
	next := dir + ".new"
	defer func() { err = errors.Join(err, os.RemoveAll(next)) }()
	path, err := layout.Write(next, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendImage(image); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(next, dir)
}

// sizes are those of the layers in bytes, packed and not.
func sizes(image v1.Image) (compressed, unpacked int64, _ error) {
	layers, err := image.Layers()
	if err != nil {
		return 0, 0, err
	}
	for _, l := range layers {
		size, err := l.Size()
		if err != nil {
			return 0, 0, err
		}
		content, err := l.Uncompressed()
		if err != nil {
			return 0, 0, err
		}
		n, err := io.Copy(io.Discard, content)
		if err := errors.Join(err, content.Close()); err != nil {
			return 0, 0, err
		}
		compressed, unpacked = compressed+size, unpacked+n
	}
	return compressed, unpacked, nil
}
