package jobs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/fuzzing"
)

// sparse is an archive with a file that has a size, none of which is in the archive: the
// format 1.0 of GNU tar, in which the content begins with a map of what is there.
func sparse(tb testing.TB, size int64) []byte {
	tb.Helper()
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=report.json", fmt.Sprintf("GNU.sparse.realsize=%d", size)} {
		length := len(r) + len("00 \n")
		records += fmt.Sprintf("%d %s\n", length, r)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, entry := range []struct {
		header tar.Header
		text   string
	}{
		{tar.Header{Typeflag: tar.TypeReg, Name: "x"}, records}, // becomes the extended header of the next one
		{tar.Header{Typeflag: tar.TypeReg, Name: "report.json"}, "0\n" + string(make([]byte, 510))},
	} {
		entry.header.Size = int64(len(entry.text))
		if err := errors.Join(w.WriteHeader(&entry.header)); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(entry.text)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	const typeAt, sumAt = 156, 148
	header := b.Bytes()[:512]
	header[typeAt] = tar.TypeXHeader
	copy(header[sumAt:], "        ")
	sum := 0
	for _, c := range header {
		sum += int(c)
	}
	copy(header[sumAt:], fmt.Sprintf("%06o\x00 ", sum))
	return b.Bytes()
}

// zipped compresses an archive.
func zipped(tb testing.TB, archive []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(archive)
	if err := errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestHolesAreBytesToo: an archive of 2 KB could fill the disk by what it does not hold.
func TestHolesAreBytesToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Unpack(bytes.NewReader(zipped(t, sparse(t, 4096))), dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "report.json")); err != nil || info.Size() != 4096 {
		t.Fatalf("the file with a hole is %v, %v", info, err)
	}
	if err := Unpack(bytes.NewReader(zipped(t, sparse(t, maxUnpacked+1))), t.TempDir()); err == nil || !strings.Contains(err.Error(), "more than 16 GiB") {
		t.Errorf("of a file that is larger than all may be: %v", err)
	}
}

// FuzzUnpack unpacks what a pod could send, as it is and compressed.
func FuzzUnpack(f *testing.F) {
	var packed bytes.Buffer
	if err := Pack(&packed, fstest.MapFS{"report.json": {Data: []byte("{}")}, "cells/a/b/history.jsonl": {Data: []byte("{}\n")}}); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes())
	unzipped, err := gzip.NewReader(bytes.NewReader(packed.Bytes()))
	if err != nil {
		f.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(unzipped); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Add(sparse(f, 4096))
	f.Fuzz(func(t *testing.T, archive []byte) {
		fuzzing.Limited(t, func() {
			checkUnpacked(t, archive)
			checkUnpacked(t, zipped(t, archive))
		})
	})
}

// checkUnpacked fails a test if an archive writes outside of its directory, or anything but files
// and directories.
func checkUnpacked(t *testing.T, archive []byte) {
	t.Helper()
	above := t.TempDir()
	dir := filepath.Join(above, "report")
	_ = Unpack(bytes.NewReader(archive), dir)
	err := filepath.WalkDir(above, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != above && path != dir && !bytes.HasPrefix([]byte(path), []byte(dir+"/")) {
			t.Errorf("it wrote %s", path)
		}
		if err == nil && !entry.IsDir() && !entry.Type().IsRegular() {
			t.Errorf("%s is %v", path, entry.Type())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
