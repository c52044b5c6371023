package build

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/skewrig/skewrig/harness/release"
)

// packed makes an archive. A file may lie about its size; the archive ends there.
func packed(t *testing.T, files []file, trailer string) []byte {
	t.Helper()
	var archive bytes.Buffer
	z, err := zstd.NewWriter(&archive)
	if err != nil {
		t.Fatal(err)
	}
	content := tar.NewWriter(z)
	for _, f := range files {
		if err := content.WriteHeader(&f.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(content, f.text); err != nil {
			t.Fatal(err)
		}
		if f.header.Size > int64(len(f.text)) {
			break
		}
	}
	_ = content.Close() // it knows who lied
	_, err = io.WriteString(z, trailer)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// refused is an error if an archive is imported, or refused for another reason than one
// with such a text, or if something of it stays.
func refused(t *testing.T, archive []byte, because string) error {
	t.Helper()
	above := t.TempDir()
	dir := filepath.Join(above, "deep", "cache")
	_, err := importTo(t, dir, archive)
	if _, is := errors.AsType[*ArchiveError](err); !is || !strings.Contains(err.Error(), because) {
		return fmt.Errorf("%w, want one of the archive with %q", err, because)
	}
	if left, err := filepath.Glob(filepath.Join(above, "*")); err != nil || len(left) != 1 {
		return fmt.Errorf("outside of the cache there are %s: %w", left, err)
	}
	return untouched(dir)
}

// theFile is the file of an archive whose path ends so.
func theFile(t *testing.T, files []file, end string) *file {
	t.Helper()
	i := slices.IndexFunc(files, func(f file) bool { return strings.HasSuffix(f.header.Name, end) })
	if i < 0 {
		t.Fatalf("the archive has no %s", end)
	}
	return &files[i]
}

func (f *file) write(text string) { f.text, f.header.Size = text, int64(len(text)) }

// edit edits the manifest of the kubelet.
func edit(t *testing.T, files []file, change func(*manifest)) {
	t.Helper()
	f := kubeletManifest(t, files)
	var m manifest
	if err := json.Unmarshal([]byte(f.text), &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f.write(string(text))
}

// kubeletManifest is the file with the kubelet's manifest.
func kubeletManifest(t *testing.T, files []file) *file {
	t.Helper()
	return theFile(t, files, strings.TrimSuffix(theFile(t, files, "/kubelet").header.Name, string(Kubelet))+manifestFile)
}

// retold has a recipe and a path that fit each other.
func retold(t *testing.T, files []file, from, to string) {
	t.Helper()
	old, key := "", ""
	edit(t, files, func(m *manifest) {
		old = recipeKey(m.Recipe)
		for i := range m.Recipe {
			m.Recipe[i] = strings.Replace(m.Recipe[i], from, to, 1)
		}
		key = recipeKey(m.Recipe)
	})
	for i := range files {
		files[i].header.Name = strings.Replace(files[i].header.Name, old, key, 1)
	}
}

// TestAnArchiveThatWasChangedIsRefused: as a whole, and nothing of it stays.
func TestAnArchiveThatWasChangedIsRefused(t *testing.T) {
	t.Parallel()
	archive := exportedArchive(t)
	plain := func(name, text string) file {
		return file{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text))}, text}
	}
	moved := func(name string) func(*testing.T, []file) []file {
		return func(t *testing.T, files []file) []file {
			theFile(t, files, "/kubelet").header.Name = name
			return files
		}
	}
	added := func(f file) func(*testing.T, []file) []file {
		return func(_ *testing.T, files []file) []file { return append(files, f) }
	}
	manifested := func(change func(*manifest)) func(*testing.T, []file) []file {
		return func(t *testing.T, files []file) []file {
			edit(t, files, change)
			return files
		}
	}
	const key = "0123456789abcdef01234567"
	for name, c := range map[string]struct {
		change func(*testing.T, []file) []file
		want   string
	}{
		"another binary": {func(t *testing.T, files []file) []file {
			f := theFile(t, files, "/kubelet")
			f.text = strings.ToUpper(f.text)
			return files
		}, "has the digest sha256:"},
		"a longer binary": {func(t *testing.T, files []file) []file {
			f := theFile(t, files, "/kubelet")
			f.write(f.text + "!")
			return files
		}, "bytes, built were"},
		"another digest":  {manifested(func(m *manifest) { m.Digest = "sha256:00" }), "built was sha256:00"},
		"another recipe":  {manifested(func(m *manifest) { m.Recipe[1] += " or so" }), "of another recipe"},
		"another release": {manifested(func(m *manifest) { m.Target.Version = release.Previous }), "of another recipe"},
		"an own clock":    {manifested(func(m *manifest) { m.Target.Clock = true }), "builds kubelet@" + string(release.Newest) + " (own clock) from something else (clock)"},
		"a patch": {manifested(func(m *manifest) { m.Target.Overlay = map[string]string{"pkg/a.go": "/etc/passwd"} }),
			"is patched, which can't be imported"},
		"an absurd size":  {manifested(func(m *manifest) { m.Bytes = maxBinary + 1 }), "more than a component has"},
		"a negative size": {manifested(func(m *manifest) { m.Bytes = -1 }), "more than a component has"},
		"a manifest that is none": {func(t *testing.T, files []file) []file {
			kubeletManifest(t, files).write("{")
			return files
		}, "can't be read"},
		"a recipe that is not ours": {func(t *testing.T, files []file) []file {
			retold(t, files, "glue ", "glue of others ")
			return files
		}, "skewrig v0.90.1 exported it, and this skewrig v0.90.2 builds kubelet@" + string(release.Newest) + " from something else (glue)"},
		"no lock": {func(_ *testing.T, files []file) []file {
			return slices.DeleteFunc(files, func(f file) bool { return strings.HasPrefix(f.header.Name, "generated-locks/") })
		}, "builds kube-scheduler@v1.90.1 from something else (lock)"},
		"a damaged lock": {func(t *testing.T, files []file) []file {
			t.Helper()
			theFile(t, files, ".mod").write("module \x00\n")
			return files
		}, "its lock of kube-scheduler@v1.90.1 can't be read"},
		"another lock": {func(t *testing.T, files []file) []file {
			theFile(t, files, ".sum").write("other sums\n")
			return files
		}, "builds kube-scheduler@v1.90.1 from something else (lock)"},
		"a path upwards":           {moved("../kubelet"), "is no file of such an archive"},
		"a path up from an entry":  {moved("bin/kubelet/../../../kubelet"), "is no file of such an archive"},
		"a path up from a release": {moved("bin/kubelet/../" + key + "/kubelet"), "is no file of such an archive"},
		"a path up from a key":     {moved("bin/kubelet/" + string(release.Newest) + "/../kubelet"), "is no file of such an archive"},
		"a path that is short":     {moved("bin/kubelet"), "is no file of such an archive"},
		"a path that is long":      {moved("bin/kubelet/" + string(release.Newest) + "/" + key + "/kubelet/kubelet"), "is no file of such an archive"},
		"an unknown release":       {moved("bin/kubelet/newest/" + key + "/kubelet"), "is no file of such an archive"},
		"a path up from a lock":    {moved("generated-locks/../../kubelet.mod"), "is no file of such an archive"},
		"an absolute path":         {moved("/bin/kubelet/" + string(release.Newest) + "/" + key + "/kubelet"), "is no file of such an archive"},
		"a path that is not clean": {moved("./bin/kubelet/" + string(release.Newest) + "/" + key + "/kubelet"), "is no file of such an archive"},
		"another program":          {moved("bin/kubelet/" + string(release.Newest) + "/" + key + "/kubectl"), "is no file of such an archive"},
		"an unknown component":     {moved("bin/kube-proxy/" + string(release.Newest) + "/" + key + "/kubectl"), "is no file of such an archive"},
		"a binary of no entry":     {moved("bin/kubelet/" + string(release.Newest) + "/" + key + "/kubelet"), "has no manifest"},
		"an unknown file":          {added(plain("go.mod", "module cache\n")), "is no file of such an archive"},
		"a lock at the end":        {added(plain("generated-locks/v1.91.0.mod", "module m\n")), "comes after a binary"},
		"a link":                   {added(file{header: tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/kubelet", Linkname: "/"}}), "is no plain file"},
		"a hard link":              {added(file{header: tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "/etc/passwd"}}), "is no plain file"},
		"a directory":              {added(file{header: tar.Header{Typeflag: tar.TypeDir, Name: "bin/"}}), "is no plain file"},
		"a device":                 {added(file{header: tar.Header{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}}), "is no plain file"},
		"a binary twice": {func(t *testing.T, files []file) []file {
			return append(files, *theFile(t, files, "/kubelet"))
		}, "is in it twice"},
		"a manifest twice": {func(t *testing.T, files []file) []file {
			return slices.Insert(files, 2, *theFile(t, files, manifestFile))
		}, "is in it twice"},
		"no binary": {func(t *testing.T, files []file) []file {
			name := theFile(t, files, "/kubelet").header.Name
			return slices.DeleteFunc(files, func(f file) bool { return f.header.Name == name })
		}, "the binary of kubelet@" + string(release.Newest) + " is missing"},
		"no manifest": {func(t *testing.T, files []file) []file {
			name := kubeletManifest(t, files).header.Name
			return slices.DeleteFunc(files, func(f file) bool { return f.header.Name == name })
		}, "has no manifest"},
		"a manifest that does not end": {func(t *testing.T, files []file) []file {
			theFile(t, files, manifestFile).header.Size = 1 << 40
			return files
		}, "has 1099511627776 bytes, more than"},
		"a binary that does not end": {func(t *testing.T, files []file) []file {
			theFile(t, files, "/kubelet").header.Size = 1 << 40
			return files
		}, "has 1099511627776 bytes, built were"},
		"too many files": {func(_ *testing.T, files []file) []file {
			for i := range maxFiles {
				files = slices.Insert(files, 2, plain(fmt.Sprintf("generated-locks/%d.mod", i), ""))
			}
			return files
		}, "more than 500 files"},
		"nothing":     {func(*testing.T, []file) []file { return nil }, "it has no components"},
		"no exporter": {func(_ *testing.T, files []file) []file { return files[1:] }, "does not say what made it"},
		"a bad toolchain": {func(_ *testing.T, files []file) []file {
			files[1].write(strings.Replace(files[1].text, " ", "\n\x1b", 1))
			return files
		},
			"does not say what made it"},
		"no toolchain":  {func(_ *testing.T, files []file) []file { return slices.Delete(files, 1, 2) }, "does not say what made it"},
		"a bad name":    {func(_ *testing.T, files []file) []file { files[0].write("v1\x1b[2J"); return files }, "does not say what made it"},
		"a lot of text": {func(_ *testing.T, files []file) []file { files[0].write(strings.Repeat("v", maxSmall+1)); return files }, "more than 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := c.change(t, unpacked(t, archive))
			if err := refused(t, packed(t, changed, ""), c.want); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("something after the end", func(t *testing.T) {
		t.Parallel()
		if err := refused(t, packed(t, unpacked(t, archive), "more"), "something follows after its end"); err != nil {
			t.Error(err)
		}
	})
	t.Run("not changed", func(t *testing.T) {
		t.Parallel()
		if _, err := importTo(t, t.TempDir(), packed(t, unpacked(t, archive), "")); err != nil {
			t.Error(err)
		}
	})
}

// TestAnArchiveThatIsCutOffIsRefused: wherever that is.
func TestAnArchiveThatIsCutOffIsRefused(t *testing.T) {
	t.Parallel()
	archive := exportedArchive(t)
	step := len(archive)/25 + 1
	for n := 0; n < len(archive); n += step {
		if err := refused(t, archive[:n], ""); err != nil {
			t.Errorf("%d of %d bytes: %v", n, len(archive), err)
		}
		flipped := bytes.Clone(archive)
		flipped[n] ^= 0x20
		if dir := t.TempDir(); unharmed(t, flipped) {
			if _, err := importTo(t, dir, flipped); err != nil {
				t.Errorf("byte %d of %d is another, which changes nothing: %v", n, len(archive), err)
			}
		} else if err := refused(t, flipped, ""); err != nil {
			t.Errorf("byte %d of %d is another: %v", n, len(archive), err)
		}
	}
	if err := refused(t, archive[:len(archive)-1], "damaged or cut off"); err != nil {
		t.Errorf("without the last byte: %v", err)
	}
	if err := refused(t, []byte("#!/bin/sh\n"), "no archive that skewrig build save has written"); err != nil {
		t.Error(err)
	}
}

// unharmed reports whether an archive can be unpacked: not every bit of a packed file counts.
func unharmed(t *testing.T, archive []byte) bool {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(archive))
	if err != nil {
		return false
	}
	defer z.Close()
	_, err = io.Copy(io.Discard, z)
	return err == nil
}
