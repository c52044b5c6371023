// Package catalog holds the scenarios that come with skewrig, in one folder per
// KEP or area.
package catalog

import (
	"embed"
	"io/fs"
	"path"
	"slices"
)

// Files are the catalog's scenario files.
//
//go:embed */*.yaml
var Files embed.FS

// Paths lists the scenario files, sorted.
func Paths() ([]string, error) {
	var paths []string
	err := fs.WalkDir(Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".yaml" {
			paths = append(paths, name)
		}
		return err
	})
	slices.Sort(paths)
	return paths, err
}
