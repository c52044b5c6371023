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
	"time"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// maxSample bounds the page of a sample report, in bytes.
const maxSample = 1 << 20

// TestSampleReportsOpen: the page of the sample is small, and shows the cells of its report, with
// what happened in each and what components logged then.
func TestSampleReportsOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, sampleReport))); err != nil {
		t.Fatal(err)
	}
	report, err := app.ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Cells {
		logProbes(t, filepath.Join(dir, "cells", filepath.FromSlash(c.ID)))
	}
	code, page, stderr := skewrig(t, "report", "show", dir, "-o", "html")
	if code != 0 || stderr != "" || len(page) > maxSample {
		t.Fatalf("exit code %d, and a page of %d bytes, at most %d are wanted: %s", code, len(page), maxSample, stderr)
	}
	red := 0
	for i, c := range report.Cells {
		if !strings.Contains(page, c.ID) {
			t.Errorf("the page does not show %s", c.ID)
		}
		if c.Outcome != reports.Pass {
			red++
		}
		if n := narrationIn(t, page, i); len(n.Lanes) == 0 || c.Outcome != reports.Pass && len(n.Logs) == 0 {
			t.Errorf("the page has %d lanes of a timeline and logs of %d components of %s: run make pictures", len(n.Lanes), len(n.Logs), c.ID)
		}
	}
	if red == 0 || red == len(report.Cells) {
		t.Errorf("%d of the %d cells are red", red, len(report.Cells))
	}
}

// logProbes writes a log of the kubelet of a cell, with a line for each connection of a probe in its
// record: the sample is kept without its logs.
func logProbes(t *testing.T, cell string) {
	t.Helper()
	var log strings.Builder
	for line := range strings.Lines(readText(t, filepath.Join(cell, "history.jsonl"))) {
		var event struct {
			At            time.Time
			Kind, Subject string
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event.Kind == "wire.connection" {
			fmt.Fprintf(&log, "E%s 1 prober.go:1] \"Probe failed\" pod=%q\n", event.At.Format("0102 15:04:05.000000"), "default/payments")
		}
	}
	if log.Len() == 0 {
		t.Fatalf("%s has no connection", cell)
	}
	if err := os.MkdirAll(filepath.Join(cell, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, filepath.Join(cell, "logs", "kubelet-node-a.log"), log.String())
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
	code, _, stderr := skewrig(t, "report", filepath.Join(root, knownBug), "-o", "html")
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
