package reports

import "testing"

func TestWebAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://github.com/kubernetes/kubernetes/issues/1": true,
		"http://[::1]:8080/":            true,
		"http://localhost:80":           true,
		"https://bücher.example/":       true,
		"https://g)thub.com/kubernetes": false,
		"https://":                      false,
		"https:///path":                 false,
		"javascript:alert(1)":           false,
		"ftp://example.com/":            false,
		"KEP-4939, Design Details":      false,
	} {
		if _, got := WebAddress(text); got != want {
			t.Errorf("WebAddress(%q) is %t", text, got)
		}
	}
}
