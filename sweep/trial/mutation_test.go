package trial

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMutations: each mutation has words, a rank of its own, and a row in the docs, which have no others.
func TestMutations(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| mutation | |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented, all []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		documented = append(documented, strings.Split(row[1], ", ")...)
	}
	for rank, m := range byRank() {
		if k := m.kind(); k.words == "" || k.rank != rank {
			t.Errorf("%s has the words %q and the rank %d, want some and %d", string(m), k.words, k.rank, rank)
		}
		all = append(all, string(m))
	}
	slices.Sort(documented)
	slices.Sort(all)
	if !slices.Equal(documented, all) {
		t.Errorf("docs/sweep.md has the mutations %v, want %v", documented, all)
	}
	if unknown := Mutation("of another release"); unknown.String() != "" {
		t.Errorf("a mutation of another release is %q", unknown)
	}
}
