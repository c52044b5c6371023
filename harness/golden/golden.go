// Package golden compares what a test got with what a file says.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update reports whether -update is set.
func Update() bool { return *update }

// Write writes a file of a test.
func Write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // it is committed, for all to read
		t.Fatal(err)
	}
}

// Check fails a test if a text is not that of a file, a path from the test's
// directory, and says which lines differ. With -update it writes the file first.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		Write(t, file, got)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got); if the new text is right, run the test with -update:\n%s", file, diff)
	}
}
