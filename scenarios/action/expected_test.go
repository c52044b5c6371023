package action

import (
	"testing"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// TestExpected: an answer that is not as expected stops the step, and is left to the
// check.
func TestExpected(t *testing.T) {
	t.Parallel()
	refused := &spec.Rejected{Code: 422, Message: `not "allowed"`}
	for name, c := range map[string]struct {
		expected Expected
		code     int
		met      bool
		must     string
	}{
		"nothing expected":     {Expected{}, 422, true, ""},
		"accepted":             {Expected{Accepted: true}, 201, true, "it.code < 400"},
		"accepted is refused":  {Expected{Accepted: true}, 422, false, "it.code < 400"},
		"any refusal":          {Expected{Rejected: &spec.Rejected{}}, 403, true, "it.code >= 400"},
		"rejected is accepted": {Expected{Rejected: &spec.Rejected{}}, 201, false, "it.code >= 400"},
		"a refusal and why":    {Expected{Rejected: refused}, 422, true, `it.code == 422 && it.message.matches("not \"allowed\"")`},
	} {
		must := ""
		for _, check := range c.expected.Checked() {
			must = check.Must
		}
		if c.expected.met(c.code) != c.met || must != c.must {
			t.Errorf("%s: met %t, must %q; want %t, %q", name, c.expected.met(c.code), must, c.met, c.must)
		}
	}
}
