package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/jobs"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/own"
)

// maxFiles is how many bytes a ConfigMap can have of the user's files.
const maxFiles = 900 << 10

// userFiles are the user's own files: packed, and a hash of what they are called and have. If unset, there are none.
type userFiles struct {
	packed []byte
	hash   string
}

// filesOf are the YAML files of the working directory and below, if any of them is run.
func filesOf(named []string) (userFiles, error) {
	dir, err := os.Getwd()
	if err != nil {
		return userFiles{}, err
	}
	catalog, has := own.Find(dir)
	var problems []error
	for _, name := range named {
		if !filepath.IsLocal(name) || !IsFile(name) {
			problems = append(problems, fmt.Errorf("%s is no YAML file below the working directory: only these go along", name))
		}
	}
	if catalog != "" && catalog != dir {
		problems = append(problems, fmt.Errorf("the catalog is in %s: run skewrig there, so that its files go along", catalog))
	}
	if err := errors.Join(problems...); err != nil || !has && len(named) == 0 {
		return userFiles{}, err
	}
	return packedOf(dir)
}

// packedOf packs the YAML files of a directory and below.
func packedOf(dir string) (userFiles, error) {
	all := yamlFiles{files.DirFS(dir, files.MaxText)}
	var b bytes.Buffer
	if err := jobs.Pack(&b, all); err != nil {
		return userFiles{}, err
	}
	if b.Len() > maxFiles {
		return userFiles{}, fmt.Errorf("the YAML files of %s have %d bytes when packed, and %d can go along: run skewrig in a directory with less", dir, b.Len(), maxFiles)
	}
	var names []string
	err := fs.WalkDir(all, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return userFiles{}, err
	}
	hash, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return all.Open(name) })
	return userFiles{packed: b.Bytes(), hash: hash}, err
}

// yamlFiles is a file system with nothing but directories and YAML files. Hidden directories, and those of reports, are
// left out.
type yamlFiles struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (y yamlFiles) ReadDir(name string) (left []fs.DirEntry, _ error) {
	all, err := fs.ReadDir(y.FS, name)
	for _, e := range all {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !y.isReport(name, e) || e.Type().IsRegular() && IsFile(e.Name()) {
			left = append(left, e)
		}
	}
	return left, err
}

func (y yamlFiles) isReport(in string, e fs.DirEntry) bool {
	_, err := fs.Stat(y.FS, filepath.ToSlash(filepath.Join(in, e.Name(), render.JSONFile)))
	return err == nil
}
