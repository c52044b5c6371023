package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/skewrig/skewrig/app"
)

// TestFailures checks that failures to remove something are reported in addition to a red verdict.
func TestFailures(t *testing.T) {
	t.Parallel()
	network, claim := app.Failed(fmt.Errorf("the network %s is in use", "a")), app.Failed(errors.New("the claim stays"))
	got := failures(errors.Join(errors.Join(exitCode(1), network), claim))
	if want := []error{network, claim}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if none := failures(exitCode(1)); len(none) > 0 {
		t.Errorf("an exit code alone is none: %q", none)
	}
}
