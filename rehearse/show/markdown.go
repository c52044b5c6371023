package show

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

const (
	// maxComment is how long a comment may be, in bytes. GitHub refuses one of more than 65,536 characters.
	maxComment = 65_000
	// room is what the end of a part takes, in bytes.
	room = 1000
	// maxRows is how many rows a table of a comment has.
	maxRows = 40
)

// Markdown writes a report as a comment for a pull request: the answer, a table of the findings, and the rest folded. What
// has no room is counted.
func Markdown(w io.Writer, r rehearse.Report) error {
	c := new(comment)
	c.WriteString("### skewrig rehearse: may I upgrade, and may I go back?\n\n**" + brief(Answer(r)) + "**\n")
	c.table(reports.Each(r.Findings, func(f rehearse.Finding) []string {
		return []string{brief(string(f.What)), brief(direction(f) + ", " + happens(f)), brief(f.Summary), fmt.Sprint(len(f.Objects))}
	}), maxComment/2, "finding", "when", "what happens", "objects")
	for i, f := range r.Findings {
		c.folded(fmt.Sprintf("%d. %s: %s", i+1, f.What, f.Summary), findingRows(f), "object", "what was seen")
	}
	c.folded("Known and accepted", reports.Each(r.Known, func(f rehearse.Finding) []string {
		return []string{brief(string(f.What)), brief(f.Summary), fmt.Sprint(len(f.Objects)), brief(f.Accepted)}
	}), "finding", "what happens", "objects", "why it is accepted")
	var left [][]string
	for _, p := range r.Problems {
		left = append(left, []string{brief(problemName(p)), brief(p.Why)})
	}
	c.folded("Left out", left, "document", "why")
	c.folded("Pending at "+string(r.From), reports.Each(pending(r), func(same []rehearse.Object) []string {
		return []string{brief(few(refsOf(same), 3)), brief(same[0].Pending)}
	}), "objects", "why")
	c.folded("Worth knowing", reports.Each(r.Notices, func(n rehearse.Notice) []string {
		return []string{brief(n.Text), brief(few(n.Objects, 3))}
	}), "notice", "objects")
	c.folded("Not real, or nothing acted on it", unreal(r), "what", "why")
	if c.omitted > 0 {
		fmt.Fprintf(c, "\n%s omitted for lack of room: see %s.\n", reports.Counted(c.omitted, "part"), JSONFile)
	}
	_, err := io.WriteString(w, c.String())
	return err
}

// comment is Markdown of at most maxComment bytes.
type comment struct {
	strings.Builder

	omitted int // parts that had no room
}

// brief escapes the beginning of a text for Markdown.
func brief(s string) string { return render.MarkdownText(render.Brief(s, maxBrief)) }

// inHTML escapes the beginning of a text for a block of HTML, in which Markdown has no escapes. A comment ends what would
// be a mention, or a link to an issue.
func inHTML(s string) string {
	return strings.NewReplacer("@", "@<!-- -->", " #", " #<!-- -->").Replace(html.EscapeString(render.Brief(s, maxBrief)))
}

func findingRows(f rehearse.Finding) [][]string {
	rows := reports.Each(f.Objects[:min(len(f.Objects), maxRows-3)], func(o rehearse.Affected) []string { return []string{brief(named(o.Ref)), brief(o.Detail)} })
	if more := len(f.Objects) - len(rows); more > 0 {
		rows = append(rows, []string{fmt.Sprintf("and %d more", more), ""})
	}
	for _, more := range [][]string{{"**before the upgrade**", f.Advice}, {"**why**", f.Cause}} {
		if more[1] != "" {
			rows = append([][]string{{more[0], brief(more[1])}}, rows...)
		}
	}
	return rows
}

// unreal says what was not real, and on what nothing acted.
func unreal(r rehearse.Report) (rows [][]string) {
	for _, m := range r.Mocked {
		rows = append(rows, []string{brief(m), "simulated"})
	}
	for _, i := range r.Inert {
		rows = append(rows, []string{brief(few(i.Objects, 3)), brief(i.Why)})
	}
	return rows
}

// folded writes a table that a reader has to unfold. Without rows, it writes nothing.
func (c *comment) folded(summary string, rows [][]string, header ...string) {
	if len(rows) == 0 {
		return
	}
	if c.Len() > maxComment-4*room {
		c.omitted++
		return
	}
	fmt.Fprintf(c, "\n<details><summary>%s</summary>\n", inHTML(summary))
	c.table(rows, maxComment-room, header...)
	c.WriteString("\n</details>\n")
}

// table writes rows below a header while the comment is shorter than a limit.
func (c *comment) table(rows [][]string, limit int, header ...string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(c, "\n| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for i, row := range rows {
		line := fmt.Sprintf("| %s |\n", strings.Join(row, " | "))
		if i == maxRows || c.Len()+len(line) > limit {
			fmt.Fprintf(c, "\n%s omitted here.\n", reports.Counted(len(rows)-i, "more row"))
			return
		}
		c.WriteString(line)
	}
}
