package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// maxSample bounds the page of a sample report, in bytes: it is committed each time that
// make pictures runs.
const maxSample = 1 << 20

// TestSampleReportsOpen: a sample is small, and shows the cells of the report beside it, with
// what happened in each.
func TestSampleReportsOpen(t *testing.T) {
	t.Chdir(root)
	samples, err := filepath.Glob("docs/examples/*/index.html")
	if err != nil || len(samples) == 0 {
		t.Fatalf("there are no sample reports: %v", err)
	}
	for _, path := range samples {
		page := readText(t, path)
		if len(page) > maxSample {
			t.Errorf("%s has %d bytes, at most %d are wanted", path, len(page), maxSample)
		}
		report, err := app.ReadReport(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range report.Cells {
			if !strings.Contains(page, c.ID) {
				t.Errorf("%s does not show %s: run make pictures", path, c.ID)
			}
			if n := narrationIn(t, page, i); len(n.Lanes) == 0 || c.Outcome != reports.Pass && len(n.Logs) == 0 {
				t.Errorf("%s has %d lanes of a timeline and logs of %d components of %s: run make pictures", path, len(n.Lanes), len(n.Logs), c.ID)
			}
		}
	}
}

// narrationIn is what a page has of what happened in a cell, by the cell's place.
func narrationIn(t *testing.T, page string, cell int) narrate.Narration {
	t.Helper()
	_, rest, found := strings.Cut(page, fmt.Sprintf(`id="data-narration-%d">`, cell))
	if !found {
		return narrate.Narration{}
	}
	block, _, _ := strings.Cut(rest, "<")
	unzipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(block)))
	if err != nil {
		t.Fatal(err)
	}
	var happened struct{ Narration narrate.Narration }
	if err := json.NewDecoder(unzipped).Decode(&happened); err != nil {
		t.Fatal(err)
	}
	return happened.Narration
}

// TestAPageSaysWhatItLacks: a page that is made after the records are gone looks whole.
func TestAPageSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	code, _, stderr := skewrig(t, "report", filepath.Join(root, "docs", "examples", "known-bug"), "-o", "html")
	if code != 0 || !strings.Contains(stderr, "no timeline, or no logs, of 3 cells") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestPicturesOpen: each picture is what the end of its name says.
func TestPicturesOpen(t *testing.T) {
	t.Parallel()
	read := map[string]func(io.Reader) error{
		".png": func(r io.Reader) error { _, err := png.Decode(r); return err },
		".svg": func(r io.Reader) error {
			for decoder := xml.NewDecoder(r); ; {
				if _, err := decoder.Token(); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
			}
		},
	}
	for name := range textsOf(t, filepath.Join(root, "docs", "pictures")) {
		as := read[filepath.Ext(name)]
		if as == nil {
			t.Errorf("%s: GitHub shows svg and png", name)
			continue
		}
		file, err := os.Open(filepath.Join(root, "docs", "pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(as(file), file.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheREADMEIsShort: it says what this is and where to begin. Everything else has a
// page of its own.
func TestTheREADMEIsShort(t *testing.T) {
	t.Parallel()
	const atMost = 120
	if lines := strings.Count(readText(t, filepath.Join(root, "README.md")), "\n"); lines > atMost {
		t.Errorf("README.md has %d lines, at most %d are wanted", lines, atMost)
	}
}
