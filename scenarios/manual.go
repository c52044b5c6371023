package scenarios

import (
	_ "embed"
	"strings"
)

//go:embed doc.go
var manual string

// Manual returns the text of the package comment.
func Manual() string {
	var b strings.Builder
	for line := range strings.Lines(manual) {
		if text, is := strings.CutPrefix(line, "//"); is {
			b.WriteString(strings.TrimPrefix(text, " "))
		}
	}
	return b.String()
}
