// Package texts reads the texts of the checkout for tests of how they are written.
package texts

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Each calls a function for each file of the checkout that has one of the extensions, for a test of a package three
// directories deep. It skips directories by name or path, and what the targets of the Makefile write.
func Each(extensions, skipped []string, each func(name, text string)) error {
	root := os.DirFS("../../..")
	skipped = append([]string{".git", "bin", "node_modules"}, skipped...)
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		written := name == "report" || name == "release" || strings.HasPrefix(name, "report-")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (written || slices.Contains(skipped, name) || slices.Contains(skipped, entry.Name())):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains(extensions, path.Ext(name)):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err == nil {
			each(name, string(text))
		}
		return err
	})
}
