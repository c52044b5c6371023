package main

import (
	"strings"
	"testing"
)

// TestACommandLineThatIsPublished: it says neither which cluster it was, nor who used it.
func TestACommandLineThatIsPublished(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"skewrig run --provider cluster --kubeconfig /home/me/.kube/config --context me@here a b": "skewrig run --provider cluster a b",
		"skewrig run --context=me@here --nodes a=b a":                                             "skewrig run --nodes a=b a",
		"skewrig run a --context":    "skewrig run a",
		"skewrig run -- --context b": "skewrig run -- --context b",
	} {
		if got := strings.Join(publishable(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
