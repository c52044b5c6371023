package expr

import (
	"fmt"
	"testing"
)

// TestAFailedEvaluationSaysWhere: an expression that can't be evaluated is named with its
// place, and with the value at fault.
func TestAFailedEvaluationSaysWhere(t *testing.T) {
	t.Parallel()
	now := map[string]any{"objects": map[string]any{"e": map[string]any{"endpoints": nil, "n": int64(1)}}}
	for text, want := range map[string]string{
		`objects["e"].endpoints.size() > 0`:                           `objects["e"].endpoints is null at 0`,
		`true && objects["e"].endpoints.size() > 0`:                   `objects["e"].endpoints is null at 8`,
		`objects.exists(k, k == "e" && objects[k].n.startsWith("1"))`: `objects[k].n is 1 at 30`,
		`objects["e"].missing.size() == 0`:                            `of objects["e"] at 0`,
	} {
		_, _, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		got, found := FailedIn(text, nil, now)
		if at := fmt.Sprintf("%s at %d", got.about, got.Offset); !found || at != want {
			t.Errorf("%s: %s, want %s", text, at, want)
		}
	}
}
