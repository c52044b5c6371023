// Package render turns a report into the formats that people and programs read:
// JSON, JUnit, Markdown and a table for the terminal. Each is a projection of
// the same report, in the report's order, so two runs that saw the same differ
// only in what the report calls volatile. Texts of a report come from programs
// under test, and are escaped for the format that they end up in.
package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports"
)

// The files that WriteDir writes.
const (
	JSONFile  = "report.json"
	JUnitFile = "junit.xml"
)

// JSON writes a value as indented JSON; a report so that reports.Read reads it back.
func JSON[T any](w io.Writer, value T) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// The file is for people as well, and arrows and brackets are common in
	// what was expected. Who puts it into a page has to escape it anyway.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encoding as JSON: %w", err)
	}
	return nil
}

// WriteDir writes the report as JSON and as JUnit into dir, which is made if it
// does not exist. Each file appears whole or not at all: a reader never sees
// half of one. A failure to write one file does not keep the others from being
// written; the error names each file that was not.
func WriteDir(dir string, r reports.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the report directory: %w", err)
	}
	var problems []error
	for _, file := range []struct {
		name   string
		render func(io.Writer, reports.Report) error
	}{
		{JSONFile, JSON[reports.Report]},
		{JUnitFile, JUnit},
	} {
		problems = append(problems, WriteFile(dir, file.name, func(w io.Writer) error { return file.render(w, r) }))
	}
	return errors.Join(problems...)
}

// WriteFile replaces dir/name in one step by what a function writes.
func WriteFile(dir, name string, write func(io.Writer) error) error {
	path := filepath.Join(dir, name)
	if err := files.Write(path, 0o644, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
