package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/own"
)

// Init makes a catalog in the working directory, with a first scenario for a pod, and
// returns the files that it wrote. If manifest is unset, the pod is a sample. It is an
// error if one of the files is there: none is written then.
func Init(manifest string) ([]string, error) {
	pod, err := readManifest(manifest)
	if err != nil {
		return nil, err
	}
	files, err := own.First(pod)
	if err != nil && manifest != "" {
		return nil, fmt.Errorf("%s: %w", manifest, err)
	}
	if err != nil {
		return nil, Failed(err)
	}
	return writeCatalog(files)
}

// Scaffold makes a catalog in the working directory for the KEP whose README is in a file, and
// whose gate this is, around the object of a manifest, and returns the files that it wrote. If
// manifest is unset, the object is a sample pod. It is an error if one of the files is there: none
// is written then.
func Scaffold(readme, gate, manifest string) ([]string, error) {
	text, err := files.Read(readme, files.MaxText)
	if err != nil {
		return nil, err
	}
	object, err := readManifest(manifest)
	if err != nil {
		return nil, err
	}
	files, err := own.Scaffold(string(text), gate, object)
	if err != nil {
		return nil, err
	}
	return writeCatalog(files)
}

// readManifest reads a manifest, if there is one.
func readManifest(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	return files.Read(file, files.MaxText)
}

// writeCatalog writes the files of a new catalog, and returns their names.
func writeCatalog(files map[string][]byte) ([]string, error) {
	names := slices.Sorted(maps.Keys(files))
	var problems []error
	for _, name := range names {
		if _, err := os.Lstat(name); err == nil {
			problems = append(problems, fmt.Errorf("%s is there already: nothing is overwritten", name))
		} else if !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(append(problems, loads(files))...); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := writeNew(name, files[name]); err != nil {
			return nil, Failed(err)
		}
	}
	return names, nil
}

// loads returns why files are no catalog that can be run.
func loads(files map[string][]byte) error {
	dir, err := os.MkdirTemp("", "skewrig-init-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for name, text := range files {
		if err := writeNew(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	catalog, err := own.Load(dir)
	if err == nil {
		err = errors.Join(engine.Unplayed(catalog.Cells), engine.UnknownFields(catalog.Cells))
	}
	if err != nil {
		return fmt.Errorf("there would be no scenarios that can run: %w", err)
	}
	return nil
}

// writeNew writes a file that must not be there yet, with its directories.
func writeNew(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return WriteNew(name, text, 0o644)
}

// WriteNew writes a file that must not be there yet: no file of others is overwritten.
func WriteNew(name string, text []byte, mode fs.FileMode) error {
	f, err := files.CreateNew(name, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
