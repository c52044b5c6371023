package build

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/skewrig/skewrig/harness/fuzzing"
)

// FuzzImport imports archives: the bytes as they are, and the same bytes as what an archive
// unpacks to, since few changes of a compressed file can be unpacked.
func FuzzImport(f *testing.F) {
	if !fuzzing.IsWorker() { // it takes the Go command
		archive := exportedArchive(f)
		f.Add(archive)
		f.Add(tape(f, unpacked(f, archive)))
	}
	for _, header := range []tar.Header{
		{Typeflag: tar.TypeSymlink, Name: "exporter", Linkname: "/etc/passwd"},
		{Typeflag: tar.TypeLink, Name: "exporter", Linkname: "../../exporter"},
		{Typeflag: tar.TypeReg, Name: "generated-locks/../../toolchain"},
		{Typeflag: tar.TypeReg, Name: "generated-locks/v1.90.1.mod", PAXRecords: map[string]string{"GNU.sparse.major": "1"}},
		{Typeflag: tar.TypeReg, Name: "exporter", PAXRecords: map[string]string{"path": "../exporter"}},
		{Typeflag: tar.TypeChar, Name: "exporter", Devmajor: 1, Devminor: 5},
	} {
		f.Add(tape(f, []file{{header, ""}}))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		t.Setenv("PATH", t.TempDir()) // each import would ask the Go command for its version
		var packed bytes.Buffer
		z, err := zstd.NewWriter(&packed)
		if err != nil {
			t.Fatal(err)
		}
		_, err = z.Write(content)
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		fuzzing.Limited(t, func() {
			imported(t, content)
			imported(t, packed.Bytes())
		})
	})
}

// tape is what an archive of files unpacks to.
func tape(tb testing.TB, files []file) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&f.header); err != nil {
			tb.Log(f.header.Name, err) // the package writes no header of this form
			continue
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// imported fails a test if the import of an archive writes anything outside of the cache, leaves
// anything of an archive that it refuses, or reports a binary that the cache does not have.
func imported(t *testing.T, archive []byte) {
	t.Helper()
	above := t.TempDir()
	dir := filepath.Join(above, "deep", "cache")
	binaries, err := importTo(t, dir, archive)
	if left, globErr := filepath.Glob(filepath.Join(above, "*", "*")); globErr != nil || len(left) > 1 || len(left) == 1 && left[0] != dir {
		t.Errorf("outside of the cache there are %s: %v", left, globErr)
	}
	if err != nil {
		if err := untouched(dir); err != nil {
			t.Error(err)
		}
		return
	}
	if err := leftovers(dir); err != nil {
		t.Error(err)
	}
	for _, b := range binaries {
		if _, err := os.Stat(b.Path); err != nil {
			t.Errorf("%s: %v", b.Component, err)
		}
	}
}
