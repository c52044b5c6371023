package page

import "testing"

// TestLinked: what has the form of an address and is none, or one of the rig, is no link.
func TestLinked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"see https://example.com/a?b=1.": `see <a href="https://example.com/a?b=1." rel="noreferrer">https://example.com/a?b=1.</a>`,
		"https://github.\x7fcom/x":       `https://github.\x7fcom/x`,
		"http://[::1]:80/":               `http://[::1]:80/`,
		"http://127.0.0.1:80/":           `http://127.0.0.1:80/`,
	} {
		if got := string(linked(text)); got != want {
			t.Errorf("linked(%q) = %s, want %s", text, got, want)
		}
	}
}
