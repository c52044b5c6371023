package main

import (
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

func TestWrite(t *testing.T) {
	spec := func(text, message string, state types.SpecState) types.SpecReport {
		return types.SpecReport{LeafNodeText: text, State: state, Failure: types.Failure{Message: message}}
	}
	long := strings.Repeat("a line\n", maxMessage) + "1 new"
	var out strings.Builder
	write(&out, []types.Report{
		{SuiteDescription: "green", SpecReports: types.SpecReports{spec("holds", "", types.SpecStatePassed), spec("is filtered", "", types.SpecStateSkipped), spec("is left out", "no root", types.SpecStateSkipped), spec("is left out, too", "no root", types.SpecStateSkipped)}},
		{
			SuiteDescription: "red", SpecialSuiteFailureReasons: []string{"Suite Timeout Elapsed"},
			SpecReports: types.SpecReports{
				spec("holds", "", types.SpecStatePassed),
				spec("fails", "expected 1\nto equal 2\n", types.SpecStateFailed),
				spec("panics", "no such key", types.SpecStatePanicked),
				spec("says much", long, types.SpecStateTimedout),
			},
		},
	})
	got, tail, _ := strings.Cut(out.String(), "red: says much\n")
	if want := "green: skipped: is left out, and 1 more\nno root\nred: Suite Timeout Elapsed\nred: fails\nexpected 1\nto equal 2\nred: panics\nno such key\n"; got != want {
		t.Errorf("written\n%s\nwant\n%s", got, want)
	}
	if !strings.HasPrefix(tail, "[...]\na line\n") || !strings.HasSuffix(tail, "a line\n1 new\n") || len(tail) > maxMessage+100 {
		t.Errorf("of a long message, %d bytes were written\n%s", len(tail), tail)
	}
}
