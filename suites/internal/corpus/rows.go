package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// grouped puts inputs that have no object in common into groups of at most so many objects, or of one input.
func grouped(all []input, most int) (groups []group) {
	type taken struct {
		objects int
		names   map[string]bool
	}
	var has []taken
	for _, in := range all {
		names := namesOf(in)
		n := slices.IndexFunc(has, func(t taken) bool {
			return t.objects+len(names) <= most && !slices.ContainsFunc(names, func(name string) bool { return t.names[name] })
		})
		if n < 0 {
			n, has, groups = len(has), append(has, taken{names: make(map[string]bool)}), append(groups, nil)
		}
		groups[n] = append(groups[n], in)
		has[n].objects += len(names)
		for _, name := range names {
			has[n].names[name] = true
		}
	}
	return groups
}

// namesOf are the names of the objects of an input.
func namesOf(in input) (names []string) {
	for _, o := range in.read.Objects {
		names = append(names, rehearse.RefOf(o).String())
	}
	return names
}

// row is the result of an input.
type row struct {
	input

	// Objects are those of the input. Those that are stored are fewer: some are refused (left), and some have no server (inert).
	objects, stored, inert int
	// Workloads have pods.
	workloads, atRest              int
	left, pending, findings, known []string
	minutes                        float64
	failed                         string
}

// rowOf is the result of an input in a report, which may be one of several inputs.
func rowOf(in input, report rehearse.Report) row {
	r := row{input: in, objects: len(in.read.Objects), failed: report.Failed}
	for _, o := range in.read.Objects {
		if kube.PodSpec(o.Object) != nil {
			r.workloads++
		}
	}
	for _, p := range report.Problems {
		if in.has(p.Place) && !p.Harmless {
			r.left = append(r.left, p.Object+": "+p.Why)
		}
	}
	r.atRest = r.workloads
	for _, o := range report.Objects {
		if !in.has(o.Place) {
			continue
		}
		r.stored++
		if o.Pending != "" {
			r.atRest--
			r.pending = append(r.pending, o.String()+": "+o.Pending)
		}
	}
	for _, i := range report.Inert {
		for _, o := range i.Objects {
			if in.has(o.Place) && kube.ByName(o.Kind).Name != "" {
				r.inert++
			}
		}
	}
	r.findings, r.known = foundIn(in, report.Findings), foundIn(in, report.Known)
	for _, s := range report.Stages {
		r.minutes += s.Seconds / 60
	}
	return r
}

// foundIn are the findings about objects of an input, a line for each object.
func foundIn(in input, findings []rehearse.Finding) (lines []string) {
	for _, f := range findings {
		for _, o := range f.Objects {
			if !in.has(o.Place) {
				continue
			}
			line := fmt.Sprintf("%s, %s: %s: %s (%s)", f.What, f.Stage, o.Ref, f.Summary, o.Detail)
			if f.Accepted != "" {
				line += ": " + f.Accepted
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// table writes rows in Markdown, with the sums, and the reasons below.
func table(w io.Writer, rows []row) error {
	var t strings.Builder
	t.WriteString("| input | repository | version | objects | stored | without server | workloads | at rest | found, looked into | found, open | minutes of its rehearsal |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	var sum row
	for _, r := range rows {
		fmt.Fprintf(&t, "| %s | %s | %s | %d | %d | %d | %d | %d | %d | %d | %.1f |\n", r.name, r.repository, r.version, r.objects, r.stored, r.inert, r.workloads, r.atRest, len(r.known), len(r.findings), r.minutes)
		sum.objects, sum.stored, sum.inert = sum.objects+r.objects, sum.stored+r.stored, sum.inert+r.inert
		sum.workloads, sum.atRest = sum.workloads+r.workloads, sum.atRest+r.atRest
		sum.known, sum.findings = append(sum.known, r.known...), append(sum.findings, r.findings...)
	}
	fmt.Fprintf(&t, "| %s | | | %d | %d | %d | %d | %d | %d | %d | |\n", reports.Counted(len(rows), "input"), sum.objects, sum.stored, sum.inert, sum.workloads, sum.atRest, len(sum.known), len(sum.findings))
	for _, r := range rows {
		for _, part := range []struct {
			what  string
			lines []string
		}{{"not stored", r.left}, {"pending", r.pending}, {"looked into", r.known}, {"open", r.findings}} {
			for _, line := range part.lines {
				fmt.Fprintf(&t, "\n- %s, %s: %s", r.name, part.what, render.Brief(line, 300))
			}
		}
		if r.failed != "" {
			fmt.Fprintf(&t, "\n- %s, not judged: %s", r.name, render.Brief(r.failed, 300))
		}
	}
	t.WriteString("\n")
	_, err := io.WriteString(w, t.String())
	return err
}
