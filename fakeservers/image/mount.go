package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Mount is a directory or file of the node that a container sees.
type Mount struct {
	ContainerPath, HostPath string
	ReadOnly                bool
	// Root is a directory that HostPath is in. No symbolic link on the way to HostPath leads
	// out of it. If unset, HostPath is any path of this machine.
	Root string
}

var (
	errReadOnly     = errors.New("read-only file system")
	errNotDirectory = errors.New("not a directory")
	errNotRegular   = errors.New("not a regular file")
	errBusy         = errors.New("device or resource busy")
)

// open opens the volume, so that no symbolic link leads out of it. The path in it is "." if the
// volume is a directory, and that of the file if it is a file.
func (m *Mount) open() (volume *os.Root, path string, err error) {
	dir, whole := m.Root, m.HostPath
	if dir == "" {
		if whole, err = filepath.EvalSymlinks(whole); err != nil {
			return nil, "", err
		}
		dir = filepath.Dir(whole)
	}
	if path, err = filepath.Rel(dir, whole); err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	info, err := root.Stat(path)
	if err == nil && !info.IsDir() {
		return root, path, nil
	}
	defer root.Close()
	if err != nil {
		return nil, "", err
	}
	volume, err = root.OpenRoot(path)
	return volume, ".", err
}

// enter opens the volume, and returns the path there of a file whose path in the container is
// name, and rest below the mount.
func (m *Mount) enter(op, name, rest string) (volume *os.Root, path string, err error) {
	volume, path, err = m.open()
	switch {
	case err != nil:
		return nil, "", inContainer(name, err)
	case path == ".":
		return volume, rest, nil
	case rest != ".":
		_ = volume.Close()
		return nil, "", pathError(op, name, errNotDirectory)
	}
	return volume, path, nil
}

// openFile opens a file or directory of the volume. It waits for no other end of a FIFO.
func (m *Mount) openFile(name, rest string, flag int) (*os.File, error) {
	volume, path, err := m.enter("open", name, rest)
	if err != nil {
		return nil, err
	}
	defer volume.Close()
	file, err := volume.OpenFile(path, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o644)
	return file, inContainer(name, err)
}

// openRegular opens a regular file of the volume.
func (m *Mount) openRegular(op, name, rest string, flag int) (*os.File, error) {
	file, err := m.openFile(name, rest, flag)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = inContainer(name, err)
	case info.IsDir():
		err = pathError(op, name, errIsDirectory)
	case !info.Mode().IsRegular():
		err = pathError(op, name, errNotRegular)
	default:
		return file, nil
	}
	return nil, errors.Join(err, file.Close())
}

func (m *Mount) read(name, rest string) ([]byte, error) {
	file, err := m.openRegular("read", name, rest, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("more than %d bytes", MaxFile)
	}
	if err != nil {
		return nil, inContainer(name, err)
	}
	return data, nil
}

func (m *Mount) write(name, rest string, data []byte, space *Space) error {
	if m.ReadOnly {
		return pathError("open", name, errReadOnly)
	}
	if err := space.take(int64(len(data)), 1); err != nil {
		return pathError("write", name, err)
	}
	file, err := m.openRegular("write", name, rest, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return inContainer(name, errors.Join(err, file.Close()))
}

func (m *Mount) mkdir(name, rest string, space *Space) error {
	if m.ReadOnly {
		return pathError("mkdir", name, errReadOnly)
	}
	if err := space.take(0, 1+int64(strings.Count(rest, "/"))); err != nil {
		return pathError("mkdir", name, err)
	}
	volume, path, err := m.open()
	if err != nil {
		return inContainer(name, err)
	}
	defer volume.Close()
	if path != "." {
		return pathError("mkdir", name, fs.ErrExist)
	}
	return inContainer(name, volume.MkdirAll(rest, 0o755))
}

func (m *Mount) remove(name, rest string) error {
	if m.ReadOnly {
		return pathError("remove", name, errReadOnly)
	}
	if rest == "." {
		return pathError("remove", name, errBusy)
	}
	volume, path, err := m.enter("remove", name, rest)
	if err != nil {
		return err
	}
	defer volume.Close()
	if _, err := volume.Lstat(path); err != nil {
		return inContainer(name, err)
	}
	return inContainer(name, volume.RemoveAll(path))
}

func (m *Mount) stat(name, rest string) (fs.FileMode, error) {
	volume, path, err := m.enter("stat", name, rest)
	if err != nil {
		return 0, err
	}
	defer volume.Close()
	info, err := volume.Stat(path)
	if err != nil {
		return 0, inContainer(name, err)
	}
	return info.Mode(), nil
}

func (m *Mount) readDir(name, rest string) ([]string, error) {
	file, err := m.openFile(name, rest, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	names, err := file.Readdirnames(maxFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, inContainer(name, err)
	}
	slices.Sort(names)
	return names, nil
}

// inContainer replaces the path in an error: where a volume lies on the node
// is not a container's to know.
func inContainer(name string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError(inner.Op, name, inner.Err)
	}
	return pathError("use", name, err)
}
