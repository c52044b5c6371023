package app

import "testing"

func TestCommandLineCanBePasted(t *testing.T) {
	got := CommandLine([]string{"/tmp/x/skewrig", "run", "kep-4939/**", "it's"})
	if want := `skewrig run 'kep-4939/**' 'it'\''s'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
