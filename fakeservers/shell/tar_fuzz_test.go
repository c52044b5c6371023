package shell

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/fuzzing"
)

// FuzzTar extracts archives in a container: into its memory, and into a volume, which is a
// directory of the machine.
func FuzzTar(f *testing.F) {
	for _, headers := range [][]tar.Header{
		{{Typeflag: tar.TypeDir, Name: "data/"}, {Typeflag: tar.TypeReg, Name: "data/a", Size: 2}},
		{{Typeflag: tar.TypeReg, Name: "../../outside", Size: 2}},
		{{Typeflag: tar.TypeSymlink, Name: "data/link", Linkname: "/"}, {Typeflag: tar.TypeReg, Name: "data/link/a", Size: 2}},
		{{Typeflag: tar.TypeReg, Name: "data/a", Size: 2}, {Typeflag: tar.TypeReg, Name: "data/a/b", Size: 2}},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			if _, err := w.Write([]byte("{}")[:h.Size]); err != nil {
				f.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		fuzzing.Limited(t, func() {
			above := t.TempDir()
			volume := filepath.Join(above, "volume")
			if err := os.Mkdir(volume, 0o700); err != nil {
				t.Fatal(err)
			}
			p := &image.Process{Mounts: []image.Mount{{ContainerPath: "/volume", HostPath: volume}}}
			for _, dir := range []string{"/", "/volume"} {
				s := newSession(p, image.Streams{Stdin: bytes.NewReader(archive), Stdout: io.Discard, Stderr: io.Discard})
				runTar(t.Context(), s, []string{"xf", "-", "-C", dir})
			}
			entries, err := os.ReadDir(above)
			if err != nil || len(entries) != 1 {
				t.Errorf("outside of the volume there are %v: %v", entries, err)
			}
			var archived bytes.Buffer
			s := newSession(p, image.Streams{Stdout: &archived, Stderr: io.Discard})
			runTar(t.Context(), s, []string{"cf", "-", "/"})
			for content := tar.NewReader(&archived); ; {
				if _, err := content.Next(); errors.Is(err, io.EOF) {
					return
				} else if err != nil {
					t.Fatalf("an archive of all files: %v", err)
				}
			}
		})
	})
}
