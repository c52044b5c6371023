// Package schemas holds JSON Schemas (2020-12) of what skewrig reads and writes.
// They are generated from the Go types, comments included.
package schemas

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:generate go run ./internal/generate
//go:embed *.json
var files embed.FS

const extension = ".json"

// Names returns the names of the schemas, sorted.
func Names() []string {
	entries, _ := fs.ReadDir(files, ".") // an embedded directory can be read
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), extension))
	}
	slices.Sort(names)
	return names
}

// Get returns the schema of a name.
func Get(name string) ([]byte, error) {
	text, err := files.ReadFile(name + extension)
	if err != nil {
		return nil, fmt.Errorf("there is no schema %q: there are %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}
