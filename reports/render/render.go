// Package render turns a report into the formats that people and programs read:
// JSON, JUnit, Markdown and a table for the terminal. Each is a projection of
// the same report, in the report's order, so two runs that saw the same differ
// only in what the report calls volatile. Texts of a report come from programs
// under test, and are escaped for the format that they end up in.
package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// The files that WriteDir writes.
const (
	JSONFile     = "report.json"
	JUnitFile    = "junit.xml"
	MarkdownFile = "report.md"
)

// JSON writes a report, which reports.Read reads back, or a diff as indented JSON.
func JSON[T reports.Report | diff.Diff](w io.Writer, value T) error {
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

// WriteDir writes the report in each file format into dir, which is made if it
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
		{MarkdownFile, Markdown},
	} {
		problems = append(problems, WriteFile(dir, file.name, func(w io.Writer) error { return file.render(w, r) }))
	}
	return errors.Join(problems...)
}

// WriteFile replaces dir/name in one step by what a function writes.
func WriteFile(dir, name string, write func(io.Writer) error) error {
	var content bytes.Buffer
	err := write(&content)
	if err == nil {
		err = replace(dir, name, content.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// replace writes a temporary file beside dir/name, makes sure that its content is on
// the disk, and renames it.
func replace(dir, name string, content []byte) (err error) {
	temporary, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), filepath.Join(dir, name))
}
