package strict

import (
	"strings"

	"github.com/skewrig/skewrig/harness/spelling"
)

// DidYouMean ends a message about an unknown name with the one that was
// probably meant, or else with all there are.
func DidYouMean(name string, names []string) string {
	if near := spelling.Closest(name, names); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "known are " + strings.Join(names, ", ")
}
