package show

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// Draft is the draft of an issue about a finding, for the owner of the object or of the component. It says what was seen, and
// nothing of why but what the sources of the releases say.
type Draft struct {
	Report  rehearse.Report
	Finding rehearse.Finding
	// Manifest is a file that shows the finding, and Text is its content. If unset, the finding is about no object.
	Manifest string
	Text     []byte
}

// Markdown returns the draft. Its first line is the title.
func (d Draft) Markdown() string {
	f := d.Finding
	return render.BugReport{
		Title: d.title(), Happened: d.happened(), Expected: fmt.Sprintf("What happens without the upgrade: a control plane that stayed at %s got the same objects and requests, and did not show it.\n", d.Report.From),
		Reproduce: d.reproduce(), Background: background(f), Version: render.MarkdownBlock("console", fmt.Sprintf("%s -> %s -> %s", d.Report.From, d.Report.To, d.Report.From)),
	}.Markdown()
}

func (d Draft) title() string {
	of := ""
	if objects := d.Finding.Objects; len(objects) > 0 {
		of = objects[0].Kind + ": "
	}
	return fmt.Sprintf("%s%s (%s, %s, %s -> %s)", of, d.Finding.Summary, d.Finding.What, direction(d.Finding), d.Report.From, d.Report.To)
}

// maxDrafted is how many objects a draft names.
const maxDrafted = 5

func (d Draft) happened() string {
	f := d.Finding
	var b strings.Builder
	fmt.Fprintf(&b, "**%s: %s**. %s\n\nIt was first seen in the stage %q: %s.\n\n", f.What, brief(f.Summary), f.What.Meaning(), string(f.Stage), happens(f))
	if rows := findingRows(rehearse.Finding{Objects: f.Objects[:min(len(f.Objects), maxDrafted)]}); len(rows) > 0 {
		_ = render.MarkdownTable(&b, rows, "object", "what was seen") // writing to a strings.Builder cannot fail
	}
	if more := len(f.Objects) - maxDrafted; more > 0 {
		fmt.Fprintf(&b, "\n%s show the same.\n", reports.Counted(more, "more object"))
	}
	return b.String()
}

// reproduce says how to see it: with skewrig, and what skewrig does.
func (d Draft) reproduce() string {
	var b strings.Builder
	command := fmt.Sprintf("skewrig rehearse %s --from %s --to %s", d.Manifest, d.Report.From, d.Report.To)
	if d.Report.Nodes != "" {
		command += fmt.Sprintf(" --nodes %s", d.Report.Nodes)
	}
	if len(d.Report.Gates) > 0 {
		command += " --gates " + d.Report.Gates.Flag()
	}
	if len(d.Text) > 0 {
		fmt.Fprintf(&b, "With this manifest as `%s`:\n\n%s\n", d.Manifest, render.MarkdownBlock("yaml", string(d.Text)))
		fmt.Fprintf(&b, "run\n\n%s\nwhich does this:\n\n", render.MarkdownBlock("sh", command))
	}
	for n, stage := range rehearse.Stages[:d.Finding.Stage.Index()+1] {
		fmt.Fprintf(&b, "%d. %s: %s\n", n+1, stage.Name, stage.Does)
	}
	return b.String()
}

func background(f rehearse.Finding) string {
	if f.Cause == "" {
		return ""
	}
	return "- By the sources of the releases: " + brief(f.Cause) + "\n"
}

// Drafts are the drafts of all findings by their file names, with their manifests. Of an object, text returns what shows the
// finding.
func Drafts(r rehearse.Report, text func(rehearse.Ref) []byte) map[string][]byte {
	all := make(map[string][]byte)
	for n, f := range r.Findings {
		name := fmt.Sprintf("%02d-%s", n+1, strings.ReplaceAll(string(f.What), " ", "-"))
		d := Draft{Report: r, Finding: f}
		if len(f.Objects) > 0 {
			d.Manifest, d.Text = name+".yaml", text(f.Objects[0].Ref)
			all[d.Manifest] = d.Text
		}
		all[name+".md"] = []byte(d.Markdown())
	}
	return all
}
