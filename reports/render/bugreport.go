package render

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// BugReport is an issue in the form that kubernetes/kubernetes asks for. Its parts are Markdown, but for
// the title: GitHub shows escapes in one.
type BugReport struct {
	Title                                              string
	Happened, Expected, Reproduce, Background, Version string
	// Machine is a report of a run on the machine. If unset, the sections about the machine are left out.
	Machine *reports.Report
}

// Markdown returns the issue, with its title in the first line.
func (b BugReport) Markdown() string {
	var all strings.Builder
	fmt.Fprintf(&all, "%s\n", Line(b.Title))
	const optional = "Anything else we need to know?"
	for _, s := range append([][2]string{
		{"What happened?", b.Happened},
		{"What did you expect to happen?", b.Expected},
		{"How can we reproduce it (as minimally and precisely as possible)?", b.Reproduce},
		{optional, b.Background},
		{"Kubernetes version", b.Version},
	}, b.machine()...) {
		if s[1] != "" || s[0] != optional {
			fmt.Fprintf(&all, "\n### %s\n\n%s", s[0], strings.TrimLeft(strings.TrimSpace(s[1])+"\n", "\n"))
		}
	}
	return all.String()
}

// machine returns the sections about the machine.
func (b BugReport) machine() [][2]string {
	if b.Machine == nil {
		return nil
	}
	of := b.Machine.Reproduce
	return [][2]string{
		{"Cloud provider", "none"},
		{"OS version", fenced("console", strings.TrimSpace(of.Host.OS+" "+of.Host.Kernel), "")},
		{"Install tools", "skewrig " + text(of.Skewrig)},
		{"Container runtime (CRI) and version (if applicable)", "a fake runtime of skewrig"},
		{"Related plugins (CNI, CSI, ...) and versions (if applicable)", "none"},
	}
}

// section returns what a function writes.
func section(write func(*markdown)) string {
	var m markdown
	write(&m)
	return m.String()
}
