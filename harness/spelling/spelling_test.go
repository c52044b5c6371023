package spelling

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClosest(t *testing.T) {
	t.Parallel()
	names := []string{"checks", "chunks", "apply", "apiVersion"}
	for name, want := range map[string][]string{
		"chekcs":                     {"checks"},
		"APIVERSION":                 {"apiVersion"},
		"aply":                       {"apply"},
		"chucks":                     {"checks", "chunks"},
		"nothing":                    {},
		"":                           {},
		strings.Repeat("apply", 200): {},
	} {
		if diff := cmp.Diff(want, Closest(name, names)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}
