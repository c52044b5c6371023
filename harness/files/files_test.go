package files_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/harness/files"
)

func place(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := place(t, "ten", "0123456789")
	if text, err := files.Read(path, 10); err != nil || string(text) != "0123456789" {
		t.Errorf("Read = %q, %v", text, err)
	}
	_, err := files.Read(path, 9)
	var large *files.TooLargeError
	if !errors.As(err, &large) || large.Limit != 9 {
		t.Errorf("Read of a file beyond the limit: %v", err)
	}
}

func TestWhatIsNoRegularFileIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "a FIFO", link: "a device", dir: "a directory"} {
		if _, err := files.Read(path, 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, want an error with %q", path, err, want)
		}
	}
}

func TestALinkOutOfADirectoryIsRefused(t *testing.T) {
	outside := place(t, "secret", "secret")
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if text, err := files.ReadIn(root, "log", 10); err == nil {
		t.Errorf("ReadIn followed a link out of its directory: %q", text)
	}
}

func TestWriteReplacesALink(t *testing.T) {
	outside := place(t, "precious", "precious")
	link := filepath.Join(t.TempDir(), "report.json")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := files.WriteBytes(link, 0o644, []byte("new")); err != nil {
		t.Fatal(err)
	}
	assertContent(t, outside, "precious")
	assertContent(t, link, "new")
}

func TestCreateReplacesALink(t *testing.T) {
	outside := place(t, "precious", "precious")
	link := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	f, err := files.Create(link, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	assertContent(t, outside, "precious")
	assertContent(t, link, "new")
}

func TestAFailedWriteLeavesTheFile(t *testing.T) {
	path := place(t, "report.json", "old")
	broken := errors.New("broken")
	err := files.Write(path, 0o644, func(to io.Writer) error {
		_, err := io.WriteString(to, "half")
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("Write = %v", err)
	}
	assertContent(t, path, "old")
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left beside the file: %v, %v", entries, err)
	}
}

func TestWriteRefusesADevice(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := files.WriteBytes(fifo, 0o644, nil); err == nil || !strings.Contains(err.Error(), "a FIFO") {
		t.Errorf("Write of a FIFO = %v", err)
	}
}

func assertContent(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s has %q, %v; want %q", filepath.Base(path), text, err, want)
	}
}
