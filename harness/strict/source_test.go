package strict

import "testing"

func TestAPanicOfTheYAMLLibraryIsASyntaxError(t *testing.T) {
	t.Parallel()
	// A decoder that is nil panics as one with a bug does.
	if _, err := next(nil); err == nil {
		t.Error("no error")
	}
}
