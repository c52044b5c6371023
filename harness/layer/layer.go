// Package layer puts files together into a layer of an OCI image, without a builder. The
// same files give the same layer: nothing in it tells when it was made.
package layer

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Layer is what a layer adds to an image. Directories come before what is in them.
type Layer []Entry

// Entry is a file, a directory or a link. UID and GID are its owner's; if unset, root's.
type Entry struct {
	UID, GID int

	header tar.Header
	// from is the file with its content. If unset, it is text.
	from string
	text string
}

// Dir is a directory, by its absolute path.
func Dir(name string, mode int64) Entry {
	return Entry{header: tar.Header{Typeflag: tar.TypeDir, Name: name[1:] + "/", Mode: mode}}
}

// File is a copy of a file of this machine.
func File(name, from string, mode fs.FileMode) Entry {
	return Entry{header: tar.Header{Typeflag: tar.TypeReg, Name: name[1:], Mode: int64(mode)}, from: from}
}

// Text is a file with a content, which everybody may read.
func Text(name, content string) Entry {
	return Entry{header: tar.Header{Typeflag: tar.TypeReg, Name: name[1:], Mode: 0o644}, text: content}
}

// Link is a symbolic link.
func Link(name, target string) Entry {
	return Entry{header: tar.Header{Typeflag: tar.TypeSymlink, Name: name[1:], Linkname: target, Mode: 0o777}}
}

// Compressed makes the layer, compressed once: for an image that is sent.
func (l Layer) Compressed() (v1.Layer, error) {
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(l.Write(w)) }()
		return r, nil
	}, tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

// Plain makes the layer in memory, without compression: for an image that stays on this
// machine.
func (l Layer) Plain() (v1.Layer, error) {
	var b bytes.Buffer
	err := l.Write(&b)
	return static.NewLayer(b.Bytes(), types.OCIUncompressedLayer), err
}

// Write writes the layer as a tar archive.
func (l Layer) Write(w io.Writer) error {
	archive := tar.NewWriter(w)
	for _, e := range l {
		if err := e.write(archive); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (e Entry) write(archive *tar.Writer) error {
	var content io.Reader = bytes.NewReader([]byte(e.text))
	header := e.header
	header.ModTime, header.Format, header.Size = time.Unix(0, 0), tar.FormatUSTAR, int64(len(e.text))
	header.Uid, header.Gid = e.UID, e.GID
	if e.from != "" {
		f, err := os.Open(e.from)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		content, header.Size = f, info.Size()
	}
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}
