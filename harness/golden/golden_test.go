package golden

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// witness is a test that may fail.
type witness struct {
	testing.TB
	said string
}

func (w *witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) { w.said += fmt.Sprintf(format, args...) }

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.txt")
	*update = true
	Check(t, file, "one\ntwo\n")
	*update = false
	Check(t, file, "one\ntwo\n")
	w := &witness{TB: t}
	if Check(w, file, "one\nthree\n"); !strings.Contains(w.said, file) || !strings.Contains(w.said, `"three"`) {
		t.Errorf("of another text it says %q", w.said)
	}
}
