package strict

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/files"
)

func TestAPanicOfTheYAMLLibraryIsASyntaxError(t *testing.T) {
	t.Parallel()
	// A decoder that is nil panics as one with a bug does.
	if _, err := next(nil); err == nil {
		t.Error("no error")
	}
}

// TestWhatIsNoYAMLIsFoundInItsLine: the library names the line in which the block begins.
func TestWhatIsNoYAMLIsFoundInItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a:\n- b:\n    c: d\n   e: f\n": "f.yaml:4:4: this is not YAML: did not find expected key; look at the indentation, quotes and brackets here",
		"a:\n\tb: c\n":                  "f.yaml:2:1: this is not YAML: there is a tab; indent with spaces",
		"a: 1\n---\nb: [c\nd: e\n":      "f.yaml:3:1: this is not YAML: did not find expected ',' or ']'; look at the indentation, quotes and brackets here",
	} {
		d := ParseDocument("f.yaml", []byte(text))
		if err := d.Err(); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// longBroken is a text of the largest size with a syntax error near its end, which the YAML library
// reports for the first line.
func longBroken() string {
	const line = "- {name: a, value: [1, 2, 3]}\n"
	return "list:\n" + strings.Repeat(line, files.MaxText/len(line)-1) + "  - b: c\n d: e\n"
}

// TestALongTextIsParsedFewTimes: a syntax error near the end of a large file costs little.
func TestALongTextIsParsedFewTimes(t *testing.T) {
	t.Parallel()
	text := longBroken()
	lines := strings.SplitAfter(text, "\n")
	for name, read := range map[string]int{"where it was read": len(lines), "elsewhere": len(lines) / 2} {
		parsed := 0
		brokenLine(lines, 1, read, func(text string) bool { parsed += len(text); return false })
		if parsed > maxParsed {
			t.Errorf("%s: %d bytes are parsed to find the error of %d", name, parsed, len(text))
		}
	}
}

func BenchmarkSyntaxErrorAtTheEnd(b *testing.B) {
	text := []byte(longBroken())
	for b.Loop() {
		if ParseDocument("f.yaml", text).Err() == nil {
			b.Fatal("no error")
		}
	}
}

// TestOneMistakeIsSaidOnce: a misspelt field is not reported as missing, too, and the error of
// a single value in place of a mapping says how to write the mapping.
func TestOneMistakeIsSaidOnce(t *testing.T) {
	t.Parallel()
	type span struct {
		For string `json:"for"`
		Of  string `json:"of,omitempty"`
	}
	var out struct {
		Observe string `json:"observe"`
		Always  *span  `json:"always,omitempty"`
	}
	for text, want := range map[string]string{
		"observes: a\n":            `f.yaml:1:1: unknown field "observes": did you mean observe?`,
		"observe: a\nalways: 5s\n": `f.yaml:2:9: this must be a mapping of fields, not the text "5s": write {for: 5s}`,
	} {
		if err := ReadDocument("f.yaml", []byte(text), &out).Err(); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
