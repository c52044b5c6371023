package picture

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/reports/plot"
)

// described says in words what a picture shows, for who can't see it: when
// something was wrong, and of each value the highest.
func described(p plot.Picture) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d steps from second %.1f to %.1f.", p.Subtitle, len(p.Steps), p.From, p.To)
	for _, panel := range p.Panels {
		fmt.Fprintf(&b, " %s:", panel.Title)
		for _, l := range panel.Lanes {
			fmt.Fprintf(&b, " %s", l.Name)
			for _, s := range l.Bars {
				fmt.Fprintf(&b, " %s (%.1f to %.1f)", s.Label, s.From, s.To)
			}
			for _, s := range l.Steps {
				fmt.Fprintf(&b, " %g (%.1f)", s.Value, s.At)
			}
			for _, m := range l.Marks {
				fmt.Fprintf(&b, " %s %d times", m.Label, len(m.At))
			}
			b.WriteString(";")
		}
		for _, l := range panel.Lines {
			fmt.Fprintf(&b, " %s at most %g;", l.Label, highest(l.Points))
		}
		for _, s := range panel.Stems {
			fmt.Fprintf(&b, " %s %d times;", s.Label, len(s.Points))
		}
	}
	return b.String()
}

func highest(points []plot.Point) (highest float64) {
	for _, p := range points {
		highest = max(highest, p.Value)
	}
	return highest
}
