package junit_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	sweepjunit "github.com/skewrig/skewrig/sweep/junit"
	"github.com/skewrig/skewrig/sweep/sweeptest"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := sweepjunit.Write(&b, sweeptest.Swept()); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/junit.xml", b.String())
}

// TestCounts: a suite has as many results as it says, and what is known or not confirmed does not fail.
func TestCounts(t *testing.T) {
	t.Parallel()
	s := sweeptest.Swept()
	s.Findings = nil
	var b bytes.Buffer
	if err := sweepjunit.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "<failure") || strings.Count(got, `failures="0"`) != len(s.Turns) {
		t.Errorf("a sweep without findings fails:\n%s", got)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
}
