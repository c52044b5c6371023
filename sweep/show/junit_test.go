package show_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/sweep/show"
)

func TestJUnit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := show.JUnit(&b, swept(t)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/junit.xml", b.String())
}

// TestJUnitCounts: a suite has as many results as it says, and what is known or not confirmed does not fail.
func TestJUnitCounts(t *testing.T) {
	t.Parallel()
	s := swept(t)
	s.Findings = nil
	var b bytes.Buffer
	if err := show.JUnit(&b, s); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "<failure") || strings.Count(got, `failures="0"`) != len(s.Transitions) {
		t.Errorf("a sweep without findings fails:\n%s", got)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
}
