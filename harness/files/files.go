// Package files opens, reads and writes files by names that come from users: scenarios, reports,
// archives, configuration. Reading refuses whatever is no regular file before it can block, and
// stops at a limit. Writing replaces a file as a whole and never follows a link at its name.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Limits of files that users name, in bytes.
const (
	// MaxText is the limit of a file that is written by hand: a scenario, a list, a
	// configuration, a manifest.
	MaxText = 1 << 20
	// MaxReport is the limit of a document that skewrig writes: a report, a plan. Ten thousand
	// cells of eight checks each take about an eighth of that.
	MaxReport = 256 << 20
	// MaxHistory is the limit of the record of a cell.
	MaxHistory = 2 << 30
	// MaxLog is the limit of a component's log.
	MaxLog = 256 << 20
)

// flags make that opening a FIFO does not wait for a writer, and that a terminal does not become
// the one that controls the process.
const flags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// Open opens a regular file for reading. Symbolic links are followed. A directory, a device, a
// FIFO and a socket are refused with a *fs.PathError.
func Open(path string) (*os.File, error) {
	return regular(os.OpenFile(path, flags, 0))
}

// OpenIn opens a regular file below a directory, as Open does. A link that leads out of the
// directory is refused.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := regular(root.OpenFile(filepath.FromSlash(name), flags, 0))
	return f, at(filepath.Join(root.Name(), name), err)
}

// at returns an error about a file with the path by which the reader of the error knows it.
func at(path string, err error) error {
	if e, is := errors.AsType[*fs.PathError](err); is {
		return &fs.PathError{Op: "open", Path: path, Err: e.Err}
	}
	if e, is := errors.AsType[*TooLargeError](err); is {
		return &TooLargeError{Path: path, Limit: e.Limit}
	}
	return err
}

func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: notRegular(info.Mode())}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notRegular(mode fs.FileMode) error { return fmt.Errorf("not a regular file but %s", kind(mode)) }

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "a special file"
	}
}

// Read returns the content of a regular file of at most limit bytes. A larger file is refused
// with a *TooLargeError.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, limit)
}

// ReadIn is Read for a file below a directory.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, limit)
}

// OpenBelow opens a regular file below a directory, as OpenIn does.
func OpenBelow(dir, name string) (*os.File, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return OpenIn(root, name)
}

// openRoot is os.OpenRoot, which would wait for a FIFO.
func openRoot(dir string) (*os.Root, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(dir)
}

// ReadBelow is ReadIn with OpenBelow.
func ReadBelow(dir, name string, limit int64) ([]byte, error) {
	f, err := OpenBelow(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, limit)
}

// Limit returns a reader of an open file that fails with a *TooLargeError beyond the limit.
func Limit(f *os.File, limit int64) io.Reader {
	return &limited{left: limit, from: f, tooLarge: TooLargeError{Path: f.Name(), Limit: limit}}
}

type limited struct {
	left     int64
	from     io.Reader
	tooLarge TooLargeError
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, &l.tooLarge
	}
	if int64(len(p)) > l.left+1 { // one byte more shows that the file is too large
		p = p[:l.left+1]
	}
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, &l.tooLarge
	}
	return n, err
}

// read trusts no size that the file system reports: files of /proc have none, and files grow.
func read(f *os.File, limit int64) ([]byte, error) {
	text, err := io.ReadAll(Limit(f, limit))
	if err != nil {
		return nil, err
	}
	return text, nil
}

// TooLargeError reports a file that is larger than what is read of its kind.
type TooLargeError struct {
	Path string
	// Limit is the largest accepted size in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string {
	if e.Limit >= 1<<20 {
		return fmt.Sprintf("%s is too large: must be at most %d MiB", e.Path, e.Limit>>20)
	}
	return fmt.Sprintf("%s is too large: must be at most %d bytes", e.Path, e.Limit)
}

// Write replaces a file with what a function writes, completely or not at all. The content is
// on the disk before the file has its name. What is no regular file is refused, but for a
// symbolic link: the link is replaced, and where it leads nothing changes.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return &fs.PathError{Op: "write", Path: path, Err: notRegular(info.Mode())}
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	buffered := bufio.NewWriter(temporary)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// WriteBytes is Write with content that is known.
func WriteBytes(path string, mode fs.FileMode, content []byte) error {
	return Write(path, mode, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// Create makes a new, empty file for writing, in place of a file or a link of its name. It is
// for what grows while it is read; Write is for everything else.
func Create(path string, mode fs.FileMode) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return CreateNew(path, mode)
}

// CreateNew makes a new file for writing. A file or a link of its name is an error.
func CreateNew(path string, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
}

// MkdirBelow makes a directory below another one, with its parents, and returns its path. A link
// that leads out of the other directory is refused.
func MkdirBelow(dir, name string, mode fs.FileMode) (string, error) {
	root, err := openRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	return filepath.Join(dir, name), root.MkdirAll(name, mode)
}
