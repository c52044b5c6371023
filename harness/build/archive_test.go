package build

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/skewrig/skewrig/harness/release"
)

// archived are the targets of the archives in these tests. One has a lock that was
// generated.
var archived = []Target{
	{Component: Etcd, Version: release.Etcd}, {Component: Kubelet, Version: release.Newest}, {Component: Scheduler, Version: "v1.90.1"},
}

// pretendArchived is a builder with components that were never compiled.
func pretendArchived(tb testing.TB) *Builder {
	tb.Helper()
	b := &Builder{Dir: tb.TempDir()}
	pretendLock(tb, b, archived[2])
	for _, target := range archived {
		pretend(tb, b, target, "the binary of "+target.String())
	}
	return b
}

// exportedArchive is an archive of them.
func exportedArchive(tb testing.TB) []byte {
	tb.Helper()
	var archive bytes.Buffer
	if _, err := pretendArchived(tb).ExportArchive(tb.Context(), archived, "v0.90.1", &archive); err != nil {
		tb.Fatal(err)
	}
	return archive.Bytes()
}

// file is a file of an archive.
type file struct {
	header tar.Header
	text   string
}

func unpacked(tb testing.TB, archive []byte) (files []file) {
	tb.Helper()
	z, err := zstd.NewReader(bytes.NewReader(archive))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	content := tar.NewReader(z)
	for {
		header, err := content.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		text, readErr := io.ReadAll(content)
		if err := errors.Join(err, readErr); err != nil {
			tb.Fatal(err)
		}
		header.Format = tar.FormatUnknown // the writer takes what fits
		files = append(files, file{*header, string(text)})
	}
}

// TestAnArchive: what can't be used here is known before the first binary. Each entry is
// in it once, and the same entries make the same archive.
func TestAnArchive(t *testing.T) {
	t.Parallel()
	b := pretendArchived(t)
	var archives [2]bytes.Buffer
	for i := range archives {
		built, err := b.ExportArchive(t.Context(), slices.Concat(archived, archived), "v0.90.1", &archives[i])
		if err != nil || len(built) != 2*len(archived) {
			t.Fatalf("it returns %+v: %v", built, err)
		}
	}
	if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
		t.Error("the same entries make two archives")
	}
	var names []string
	for _, f := range unpacked(t, archives[0].Bytes()) {
		name := f.header.Name
		if dir := path.Dir(name); strings.HasPrefix(name, "bin/") {
			name = path.Join(path.Dir(dir), path.Base(name)) // without the key
		}
		names = append(names, name)
	}
	lock, newest := generatedLock(archived[2]), string(release.Newest)
	want := []string{
		"exporter", "toolchain", lock + ".mod", lock + ".sum",
		"bin/etcd/" + string(release.Etcd) + "/entry.json", "bin/kubelet/" + newest + "/entry.json", "bin/kube-scheduler/v1.90.1/entry.json",
		"bin/etcd/" + string(release.Etcd) + "/etcd", "bin/kubelet/" + newest + "/kubelet", "bin/kube-scheduler/v1.90.1/kube-scheduler",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAnArchiveIsAWholeTar: other programs warn of one without its end.
func TestAnArchiveIsAWholeTar(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewReader(bytes.NewReader(exportedArchive(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if text, err := io.ReadAll(z); err != nil || len(text)%512 != 0 || !bytes.HasSuffix(text, make([]byte, 1024)) {
		t.Errorf("%d bytes, which end with %q: %v", len(text), text[max(0, len(text)-1024):], err)
	}
}

// TestAnExportThatIsInterrupted does not say that it is done.
func TestAnExportThatIsInterrupted(t *testing.T) {
	t.Parallel()
	b := pretendArchived(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.Progress = func(p Progress) {
		if p.State == Exporting {
			cancel()
		}
	}
	if _, err := b.ExportArchive(ctx, archived, "v0.90.1", io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestAnExportToAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if _, err := pretendArchived(t).ExportArchive(t.Context(), archived, "v0.90.1", full); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
}
