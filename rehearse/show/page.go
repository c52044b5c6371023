package show

import (
	_ "embed"
	"io"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/static"
)

// Page writes a report as one HTML file without script.
func Page(w io.Writer, r rehearse.Report) error {
	return static.Write(w, pageTemplate, pageView{
		Report: r, Head: static.NewHead(), Answer: Answer(r), Waiting: pending(r),
		Findings: reports.Each(r.Findings, newPageFinding), Known: reports.Each(r.Known, newPageFinding),
	})
}

//go:embed page.html
var pageText string

var pageTemplate = static.Parse(pageText)

// pageView is the content of the page.
type pageView struct {
	rehearse.Report
	static.Head

	Answer          string
	Findings, Known []pageFinding
	// Waiting are the objects that did not come to rest before the upgrade, by reason.
	Waiting [][]rehearse.Object
}

type pageFinding struct {
	rehearse.Finding

	Direction, Happens, Meaning string
}

func newPageFinding(f rehearse.Finding) pageFinding {
	return pageFinding{Finding: f, Direction: direction(f), Happens: happens(f), Meaning: f.What.Meaning()}
}
