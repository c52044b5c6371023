package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyTree copies the directories and regular files of a file system into a directory. Anything
// else, a link too, is an error: a link means something different in another place.
func CopyTree(to string, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		target := filepath.Join(to, filepath.FromSlash(name))
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		}
		return CopyFile(target, from, name)
	})
}

// CopyFile copies a regular file of a file system to a new file.
func CopyFile(to string, from fs.FS, name string) (err error) {
	info, err := fs.Lstat(from, name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "copy", Path: name, Err: notRegular(info.Mode())}
	}
	if err != nil {
		return err
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := CreateNew(to, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
