package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/golden"
)

func TestDrawing(t *testing.T) {
	t.Parallel()
	s := session{Command: `skewrig run "kep-4939/**" && echo <done>`, Lines: []line{
		{At: 200 * time.Millisecond, Text: "kubelet@v1.90.1   cached"},
		{At: 100 * time.Second, Text: "\x1b[1;31mfail\x1b[0m  \x1b[36mexpected\x1b[m <b>&\x1b[2K\a"},
		{At: 100 * time.Second, Text: ""},
		{At: 101 * time.Second, Text: "\x1b[32m" + strings.Repeat("0123456789", columns/10) + "folded"},
	}}
	drawn := s.svg()
	for decoder := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/session.svg", drawn)
}

func TestRecording(t *testing.T) {
	t.Parallel()
	s, err := record(t.Context(), `echo $COLUMNS; echo to stderr >&2; read wait < /dev/null; echo last`)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	before := time.Duration(0)
	for _, l := range s.Lines {
		texts = append(texts, l.Text)
		if l.At < before {
			t.Errorf("%q was printed at %s, after what was printed at %s", l.Text, l.At, before)
		}
		before = l.At
	}
	if got := strings.Join(texts, "|"); got != "110|to stderr|last" {
		t.Errorf("printed %q", got)
	}
}

// TestACommandThatFailsIsNotDrawn: a picture is not to show a mistake.
func TestACommandThatFailsIsNotDrawn(t *testing.T) {
	t.Parallel()
	var drawn strings.Builder
	err := run(t.Context(), "echo no such cell; exit 3", &drawn)
	if err == nil || !strings.Contains(err.Error(), "exit status 3\nno such cell") || drawn.Len() > 0 {
		t.Errorf("%v, and drew %q", err, drawn.String())
	}
}
