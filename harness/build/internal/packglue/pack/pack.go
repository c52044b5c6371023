// Package pack packs source files into an archive.
package pack

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/tools/txtar"
)

// Dir returns a txtar archive of the Go files below a directory, in the order
// of their paths.
func Dir(dir string) ([]byte, error) {
	var archive txtar.Archive
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		archive.Files = append(archive.Files, txtar.File{Name: filepath.ToSlash(name), Data: text})
		return err
	})
	return txtar.Format(&archive), err
}
