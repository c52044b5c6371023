package show

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/junit"
	"github.com/skewrig/skewrig/reports/render"
)

// JUnit writes a report as a JUnit file: a test suite for each stage with a test case for each object. A case fails if a
// finding shows first in its stage; a component that panics is a case itself. The first suite has a case for the whole
// rehearsal, which is an error if it could not be judged, and a skipped case for each document that was left out. Known
// findings do not fail: they are in the output of the first suite.
func JUnit(w io.Writer, r rehearse.Report) error {
	out := junit.File{Suites: []junit.Suite{wholeSuite(r)}}
	for i, s := range stagesOf(r) {
		out.Suites = append(out.Suites, stageSuite(i+1, s, r))
	}
	if err := out.Write(w); err != nil {
		return fmt.Errorf("writing a rehearsal as JUnit: %w", err)
	}
	return nil
}

// stagesOf are the stages that ran, and those that findings name.
func stagesOf(r rehearse.Report) []rehearse.StageResult {
	stages := slices.Clone(r.Stages)
	for _, f := range r.Findings {
		if !slices.ContainsFunc(stages, func(s rehearse.StageResult) bool { return s.Name == f.Stage }) {
			stages = append(stages, rehearse.StageResult{Stage: rehearse.Stage{Name: f.Stage, Does: happens(f)}})
		}
	}
	return stages
}

func wholeSuite(r rehearse.Report) junit.Suite {
	out := junit.NewSuite(0, "rehearsal")
	out.Properties = []junit.Property{{Name: "from", Value: string(r.From)}, {Name: "to", Value: string(r.To)}, {Name: "answer", Value: Answer(r)}}
	whole := newCase("rehearsal", "the rehearsal has an answer")
	if why := unjudged(r); why != "" {
		whole.Error = &junit.Result{Message: why, Type: "not-judged"}
	}
	out.Add(whole)
	for _, p := range r.Problems {
		c := newCase("rehearsal", problemName(p))
		c.Skipped = &junit.Result{Message: render.Line(p.Why), Type: "left-out"}
		out.Add(c)
	}
	var known strings.Builder
	for _, f := range r.Known {
		fmt.Fprintf(&known, "known, %s:\n%s", render.Line(f.Accepted), failureText(f, f.Objects))
	}
	out.SystemOut = known.String()
	return out
}

// problemName names a document that was left out.
func problemName(p manifest.Problem) string {
	return render.Line(strings.TrimSpace(p.String() + " " + p.Object))
}

// newCase is a test case that passed. The schema allows no spaces at the ends of its name.
func newCase(suite, name string) junit.Case {
	return junit.Case{Name: strings.Join(strings.Fields(render.Line(name)), " "), Classname: render.Line("rehearse." + suite), Time: junit.Seconds(0)}
}

func stageSuite(id int, s rehearse.StageResult, r rehearse.Report) junit.Suite {
	out := junit.NewSuite(id, render.Line(fmt.Sprintf("%s: %s", s.Name, s.Does)))
	out.Time = junit.Seconds(s.Seconds)
	found := reports.Only(r.Findings, func(f rehearse.Finding) bool { return f.Stage == s.Name })
	failures := make(map[rehearse.Ref][]string)
	texts := make(map[rehearse.Ref]string)
	refs := refsOf(r.Objects)
	for _, f := range found {
		if len(f.Objects) == 0 {
			c := newCase(string(s.Name), f.Summary)
			c.Failure = &junit.Result{Message: render.Line(f.Summary), Type: string(f.What), Text: junit.Text(failureText(f, nil))}
			out.Add(c)
		}
		for _, o := range f.Objects {
			failures[o.Ref] = append(failures[o.Ref], fmt.Sprintf("%s: %s", f.What, f.Summary))
			texts[o.Ref] += failureText(f, []rehearse.Affected{o})
			refs = append(refs, o.Ref)
		}
	}
	seen := make(map[rehearse.Ref]bool)
	for _, ref := range refs {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		c := newCase(string(s.Name), ref.String())
		if all := failures[ref]; len(all) > 0 {
			c.Failure = &junit.Result{Message: render.Line(strings.Join(all, "; ")), Type: "finding", Text: junit.Text(texts[ref])}
		}
		out.Add(c)
	}
	return out
}

// failureText says all that is known of a finding, for some of its objects.
func failureText(f rehearse.Finding, objects []rehearse.Affected) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: %s\n  when: %s\n", f.What, direction(f), render.Line(f.Summary), happens(f))
	for _, o := range objects {
		fmt.Fprintf(&b, "  where: %s: %s\n", named(o.Ref), strings.ReplaceAll(render.Visible(o.Detail), "\n", "\n    "))
	}
	if f.Cause != "" {
		fmt.Fprintf(&b, "  why: %s\n", render.Line(f.Cause))
	}
	if f.Advice != "" {
		fmt.Fprintf(&b, "  do: %s\n", render.Line(f.Advice))
	}
	return b.String()
}
