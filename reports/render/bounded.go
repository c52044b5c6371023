package render

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// bounded is Markdown of limited length, for places that refuse what is longer.
// What comes first is what must not be missing; where rows are left out, it says
// how many.
type bounded struct {
	markdown

	// limit is the length, in bytes.
	limit int
}

// headroom is kept free for the headings and ends of what comes later, in bytes.
const headroom = 2 << 10

// maxBrief is how much of one text is shown where space is short, in runes.
const maxBrief = 300

// brief escapes a text as text does, and shows less of it.
func brief(s string) string { return text(shortened(s, maxBrief)) }

// rows writes as many rows of a table as there is space for.
func (b *bounded) rows(rows [][]string, header ...string) {
	if len(rows) == 0 {
		return
	}
	b.printf("\n")
	b.head(header)
	for i, row := range rows {
		line := fmt.Sprintf("| %s |\n", strings.Join(row, " | "))
		if b.Len()+len(line) > b.limit-headroom {
			b.printf("\n%d more rows are omitted here for lack of space.\n", len(rows)-i)
			return
		}
		b.WriteString(line)
	}
}

func (b *bounded) problems(problems []string) {
	b.rows(reports.Each(problems, func(p string) []string { return []string{brief(p)} }), "problem with the run as a whole")
}

// folded writes a part that a reader has to unfold.
func (b *bounded) folded(summary string, content func()) {
	b.printf("\n<details><summary>%s</summary>\n", summary)
	content()
	b.printf("\n</details>\n")
}
