package main

import (
	"slices"
	"testing"
)

// TestAChosenSeedIsNamed: who runs the command of a report again has the same order.
func TestAChosenSeedIsNamed(t *testing.T) {
	t.Parallel()
	var s seed
	if args := []string{"skewrig", "run"}; !slices.Equal(s.named(args), args) {
		t.Errorf("without a seed: %q", s.named(args))
	}
	if err := s.Set("on"); err != nil || s.value == 0 {
		t.Fatalf("seed %d, %v", s.value, err)
	}
	args := []string{"skewrig", "run", "--shuffle", "a", "--shuffle=on"}
	want := []string{"skewrig", "run", "--shuffle=" + s.String(), "a", "--shuffle=" + s.String()}
	if got := s.named(args); !slices.Equal(got, want) {
		t.Errorf("arguments %q, want %q", got, want)
	}
	if err := s.Set("77"); err != nil || s.String() != "77" {
		t.Errorf("seed %s, %v", &s, err)
	}
}
