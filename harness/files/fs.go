package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// DirFS returns the file system of a directory that a user names. Links are followed. As Open
// does, it refuses what is neither a regular file nor a directory; fs.ReadFile stops at the limit.
func DirFS(dir string, limit int64) fs.FS {
	return tree{limit: limit, dir: func() (directory, error) { return followed{os.DirFS(dir).(readable), dir}, nil }}
}

// RootFS is DirFS for a directory with files of others, such as a report: a link that leads out of
// it is refused.
func RootFS(dir string, limit int64) fs.FS {
	return tree{limit: limit, dir: func() (directory, error) {
		root, err := openRoot(dir)
		if err != nil {
			return nil, err
		}
		return rooted{root.FS().(readable), root}, nil
	}}
}

// NamedFS is RootFS for a directory with files that the user names, and files that these name: only links that the user
// names lead out of it.
func NamedFS(dir string, limit int64, names []string) fs.FS {
	return named{RootFS(dir, limit).(tree), DirFS(dir, limit).(tree), names}
}

type named struct {
	tree

	followed tree
	names    []string
}

// Open implements fs.FS.
func (n named) Open(name string) (fs.File, error) {
	if slices.Contains(n.names, name) {
		return n.followed.Open(name)
	}
	return n.tree.Open(name)
}

// ReadFile implements fs.ReadFileFS.
func (n named) ReadFile(name string) ([]byte, error) {
	if slices.Contains(n.names, name) {
		return n.followed.ReadFile(name)
	}
	return n.tree.ReadFile(name)
}

// tree is a file system that opens its directory for each call, so that no one has to close it.
type tree struct {
	limit int64
	dir   func() (directory, error)
}

type directory interface {
	readable
	open(name string) (*os.File, error)
	Close() error
}

// readable has the methods of the file systems of package os.
type readable interface {
	fs.StatFS
	fs.ReadDirFS
	fs.ReadLinkFS
}

type followed struct {
	readable
	path string
}

func (d followed) open(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(d.path, filepath.FromSlash(name)), flags, 0)
}

func (followed) Close() error { return nil }

type rooted struct {
	readable
	root *os.Root
}

func (d rooted) open(name string) (*os.File, error) {
	return d.root.OpenFile(filepath.FromSlash(name), flags, 0)
}

func (d rooted) Close() error { return d.root.Close() }

// in calls a function with the open directory of a tree.
func in[T any](t tree, call func(directory) (T, error)) (got T, err error) {
	d, err := t.dir()
	if err != nil {
		return got, err
	}
	defer d.Close()
	return call(d)
}

// Open implements fs.FS.
func (t tree) Open(name string) (fs.File, error) {
	f, err := t.file(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadFile implements fs.ReadFileFS.
func (t tree) ReadFile(name string) ([]byte, error) {
	f, err := t.file(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := read(f, t.limit)
	return text, at(name, err)
}

// Stat implements fs.StatFS.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	return in(t, func(d directory) (fs.FileInfo, error) { return d.Stat(name) })
}

// ReadDir implements fs.ReadDirFS.
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	return in(t, func(d directory) ([]fs.DirEntry, error) { return d.ReadDir(name) })
}

// Lstat implements fs.ReadLinkFS.
func (t tree) Lstat(name string) (fs.FileInfo, error) {
	return in(t, func(d directory) (fs.FileInfo, error) { return d.Lstat(name) })
}

// ReadLink implements fs.ReadLinkFS.
func (t tree) ReadLink(name string) (string, error) {
	return in(t, func(d directory) (string, error) { return d.ReadLink(name) })
}

func (t tree) file(name string) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := in(t, func(d directory) (*os.File, error) { return d.open(name) })
	if err != nil {
		return nil, at(name, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return f, nil
	}
	f, err = regular(f, nil)
	return f, at(name, err)
}
