package graduation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/evidence"
)

// Judge says what runs show of the criteria of a stage. Catalog are the cells that
// could be run, to say how what is missing would be.
func Judge(e Enhancement, stage string, runs []evidence.Run, catalog []evidence.Planned) Result {
	criteria := reports.Only(e.Criteria, func(c Criterion) bool { return c.Stage == stage })
	subject := evidence.Subject{Components: e.Components, Since: e.since(stage, runs)}
	j := judge{
		Ground:  evidence.GroundOf(runs, catalog, subject, e.Concerns),
		sources: evidence.SourcesOf(runs...), releases: evidence.Releases(runs), milestone: e.Milestones[stage],
	}
	older := j // with all cells on releases that have the feature
	older.Ground = evidence.GroundOf(runs, catalog, evidence.Subject{Components: e.Components, Since: e.Milestones[Stages()[0]], Older: true}, e.Concerns)
	result := Result{
		KEP: e.KEP, Stage: stage, Milestone: e.Milestones[stage], Gate: e.Released, GateName: e.Gate, Since: subject.Since,
		Releases: releases(j.Cells), LeftOut: j.LeftOut, Verdicts: []Verdict{}, Reports: []Report{},
	}
	counted := make(map[string]int)
	for _, c := range j.Cells {
		counted[c.Report]++
	}
	for _, run := range runs {
		result.Reports = append(result.Reports, Report{Dir: run.Dir, Command: run.Report.Reproduce.Command, Cells: counted[run.Dir]})
		delete(counted, run.Dir) // given once more, it adds nothing
	}
	if v, behind := e.behind(stage, subject.Since); behind {
		result.Verdicts = append(result.Verdicts, v)
	}
	if v, late := e.late(stage); late {
		result.Verdicts = append(result.Verdicts, v)
	}
	for _, c := range criteria {
		if c.Older {
			result.Verdicts = append(result.Verdicts, older.judge(c))
		} else {
			result.Verdicts = append(result.Verdicts, j.judge(c))
		}
	}
	return result
}

// since is the first release that counts for a stage: its milestone, if a cell
// ran it, otherwise the latest milestone before that did. A stage is reached with
// what the stage before it showed; a pre-release is not the milestone.
func (e Enhancement) since(stage string, runs []evidence.Run) string {
	stages := Stages()
	upTo := stages[:slices.Index(stages, stage)+1]
	first := ""
	for _, s := range slices.Backward(upTo) {
		milestone, has := e.Milestones[s]
		if !has {
			continue
		}
		first = milestone
		if ran, _ := evidence.Select(runs, evidence.Subject{Components: e.Components, Since: milestone}, e.Concerns); len(ran) > 0 {
			return milestone
		}
	}
	return first
}

// StageBefore is the id of the verdict on a stage that is judged by releases with
// neither it nor the stage before: what they showed was shown of something else.
const StageBefore = "stage-before"

func (e Enhancement) behind(stage, since string) (Verdict, bool) {
	i := slices.Index(Stages(), stage)
	if i == 0 {
		return Verdict{}, false
	}
	before := Stages()[i-1]
	milestone, has := e.Milestones[before]
	if !has || semver.Compare(since, milestone) >= 0 {
		return Verdict{}, false
	}
	return Verdict{
		ID: StageBefore, Statement: fmt.Sprintf("What is judged has the stage %s, or %s.", before, stage),
		Source: "skewrig", Status: NoEvidence, Proof: []evidence.Finding{}, Against: []evidence.Contradiction{},
		Missing: []Missing{{What: fmt.Sprintf("no cell ran %s, the milestone of %s: the evidence below is from %s and newer", milestone, before, since)}},
	}, true
}

// StageReleased is the id of the verdict on a gate that has not reached the stage in its milestone.
const StageReleased = "stage-released"

// late is the verdict on a gate that the release of the milestone, or a later one, has at an earlier stage.
func (e Enhancement) late(stage string) (Verdict, bool) {
	milestone, has := e.Milestones[stage]
	is := e.Released
	if is == nil || !has || semver.Compare(is.Release.MajorMinor(), milestone) < 0 || slices.Index(Stages(), is.Stage) >= slices.Index(Stages(), stage) {
		return Verdict{}, false
	}
	v := Verdict{
		ID: StageReleased, Statement: fmt.Sprintf("The gate has the stage %s in %s.", stage, milestone),
		Source: "skewrig", Status: NoEvidence, Proof: []evidence.Finding{}, Against: []evidence.Contradiction{},
		Missing: []Missing{{What: is.Of(e.Gate)}},
	}
	if semver.Prerelease(string(is.Release)) == "" {
		v.Status = Contradicted
	}
	return v, true
}

// Of says what a gate is.
func (r Released) Of(gate string) string {
	if r.Stage == "" {
		return fmt.Sprintf("%s has no feature gate %s", r.Release, gate)
	}
	said := "off"
	if r.Default {
		said = "on"
	}
	if r.Locked {
		said += ", and locked"
	}
	return fmt.Sprintf("in %s, %s is %s and %s", r.Release, gate, r.Stage, said)
}

// Concerns reports whether a cell may say something of the enhancement.
func (e Enhancement) Concerns(c reports.Cell) bool {
	if slices.ContainsFunc(c.Requirements, func(id string) bool { return strings.HasPrefix(id, e.KEP+"/") }) {
		return true
	}
	if slices.ContainsFunc(e.Questions, func(q Question) bool { return matches(q.Match, c.ID) }) {
		return true
	}
	return slices.ContainsFunc(e.Criteria, func(k Criterion) bool {
		return k.Cells != nil && matches(k.Cells.Match, c.ID) || k.Repeated != nil && matches(k.Repeated.Match, c.ID)
	})
}

func releases(cells []evidence.Cell) []Release {
	count := make(map[string]int)
	seen := make(map[string]bool)
	for _, c := range cells {
		if once := c.Release + " " + c.ID; !seen[once] {
			seen[once] = true
			count[c.Release]++
		}
	}
	all := []Release{}
	for version, n := range count {
		all = append(all, Release{Version: version, Cells: n})
	}
	slices.SortFunc(all, func(a, b Release) int { return semver.Compare(a.Version, b.Version) })
	return all
}

// judge has what there is to judge by.
type judge struct {
	// releases are those that words of criteria stand for, and milestone is that of the stage.
	releases  release.Releases
	milestone string

	evidence.Ground
	sources evidence.Sources
}

func (j judge) judge(c Criterion) Verdict {
	v := Verdict{
		ID: c.ID, Statement: c.Statement, Source: c.Source, Person: c.Person,
		Proof: []evidence.Finding{}, Against: []evidence.Contradiction{}, Missing: []Missing{},
	}
	j.requirements(&v, c.Requirements)
	if c.Cells != nil {
		j.ran(&v, *c.Cells)
	}
	if c.Repeated != nil {
		j.repeated(&v, *c.Repeated)
	}
	if c.Gap != "" {
		v.Missing = append(v.Missing, Missing{What: c.Gap})
	}
	switch {
	case len(v.Against) > 0:
		v.Status = Contradicted
	case len(v.Missing) > 0:
		v.Status = NoEvidence
	case len(v.Ambiguous) > 0:
		v.Status = Ambiguous
	case c.Person != nil:
		v.Status = NeedsPerson
	case len(v.Proof) == 0: // nothing decides it, so nothing is claimed
		v.Status, v.Missing = NoEvidence, append(v.Missing, Missing{What: "no evidence"})
	default:
		v.Status = Met
	}
	return v
}

// add takes over what was found, and reports whether anything was.
func (j judge) add(v *Verdict, f evidence.Finding) bool {
	if f.Checks > 0 {
		proof := f
		proof.Against, proof.Ambiguous, proof.Unjudged = nil, nil, nil
		v.Proof = append(v.Proof, proof)
	}
	v.Against = withOthers(v.Against, f.Against)
	v.Ambiguous = withOthers(v.Ambiguous, f.Ambiguous)
	for _, u := range f.Unjudged {
		m := Missing{What: fmt.Sprintf("%s was not judged in %s: %s", f.Of, u.Cell, u.Reason), Command: j.sources.Command(u.Cell)}
		if !slices.Contains(v.Missing, m) {
			v.Missing = append(v.Missing, m)
		}
	}
	return f.Checks > 0 || len(f.Against)+len(f.Ambiguous)+len(f.Unjudged) > 0
}

// withOthers adds to a list what is not in it yet.
func withOthers(list, others []evidence.Contradiction) []evidence.Contradiction {
	for _, c := range others {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

func (j judge) requirements(v *Verdict, ids []string) {
	var untested []string
	for _, id := range ids {
		if !j.add(v, evidence.Statement(id, j.Cells)) {
			untested = append(untested, id)
		}
	}
	if len(untested) == 0 {
		return
	}
	runs, nowhere := evidence.Cover(j.Catalog, untested)
	never := reports.Only(untested, func(id string) bool { return !slices.Contains(nowhere, id) })
	if len(never) > 0 {
		v.Missing = append(v.Missing, Missing{What: "no check ran for " + strings.Join(never, ", "), Command: j.sources.Command(runs...)})
	}
	if len(nowhere) > 0 {
		v.Missing = append(v.Missing, Missing{What: "on these releases, the catalog has no cell with a check of " + strings.Join(nowhere, ", ")})
	}
}

// ran judges cells that must have run and passed: all that the catalog has.
func (j judge) ran(v *Verdict, want Cells) {
	ids := j.matching(v, want.Match)
	if len(ids) == 0 {
		return
	}
	var never []string
	for _, id := range ids {
		if !j.add(v, evidence.Whole(id, j.Cells)) {
			never = append(never, id)
		}
	}
	j.addNever(v, never, ids, want.Match)
	for _, word := range want.Releases {
		release, err := j.minor(word)
		if err != nil {
			v.Missing = append(v.Missing, Missing{What: err.Error()})
			continue
		}
		if !slices.ContainsFunc(j.Cells, func(c evidence.Cell) bool {
			return matches(want.Match, c.ID) && slices.Contains(c.Facts.Releases(), release)
		}) {
			v.Missing = append(v.Missing, j.withRelease(want.Match, release))
		}
	}
}

// minor is the minor version that a word of a criterion stands for.
func (j judge) minor(word string) (string, error) {
	switch {
	case word == Milestone:
		return j.milestone, nil
	case semver.IsValid(word) && semver.MajorMinor(word) == word:
		return word, nil
	}
	v, err := j.releases.Resolve(word)
	return v.MajorMinor(), err
}

// Milestone is the word of a criterion for the release that is to have its stage.
const Milestone = "milestone"

func (j judge) addNever(v *Verdict, never, of []string, match []cellid.Pattern) {
	switch len(never) {
	case 0:
	case len(of):
		v.Missing = append(v.Missing, Missing{What: fmt.Sprintf("never run: %s", patterns(match)), Command: j.sources.Command(texts(match)...)})
	default:
		v.Missing = append(v.Missing, Missing{What: "never run: " + strings.Join(never, ", "), Command: j.sources.Command(never...)})
	}
}

func (j judge) withRelease(match []cellid.Pattern, release string) Missing {
	m := Missing{What: fmt.Sprintf("no component of %s ran in %s", release, patterns(match))}
	for _, p := range j.Catalog {
		if matches(match, p.ID) && slices.Contains(p.Facts.Releases(), release) {
			m.Command = j.sources.Command(p.ID)
			break
		}
	}
	return m
}

// repeated judges cells that must have passed often, on many days.
func (j judge) repeated(v *Verdict, want Repeated) {
	ids := j.matching(v, want.Match)
	short := 0
	for _, id := range ids {
		j.add(v, evidence.Whole(id, j.Cells))
		r := repeats(id, j.Cells)
		if r.Runs < want.Runs || len(r.Days) < want.Days {
			short++
		}
		v.Repeats = append(v.Repeats, r)
	}
	if short > 0 {
		v.Missing = append(v.Missing, Missing{
			What: fmt.Sprintf("%d of %d cells have not passed in %d runs on %d different days; on each day that is missing, with another directory:",
				short, len(ids), want.Runs, want.Days),
			Command: j.sources.Command(texts(want.Match)...),
		})
	}
}

func repeats(id string, cells []evidence.Cell) Repeats {
	r := Repeats{Cell: id, Days: []string{}}
	seen := make(map[time.Time]bool) // a run may be in several reports
	for _, c := range cells {
		if c.ID != id {
			continue
		}
		for _, a := range c.EachRun() {
			passed := a.Outcome == reports.Pass || a.Outcome == reports.Ambiguous // a text with two readings can't be satisfied better
			if !passed || a.Started.IsZero() || seen[a.Started.UTC()] {
				continue
			}
			seen[a.Started.UTC()] = true
			r.Runs++
			r.Days = append(r.Days, a.Started.UTC().Format("2006-01-02"))
		}
	}
	slices.Sort(r.Days)
	r.Days = slices.Compact(r.Days)
	return r
}

// matching are the cells that match: those of the catalog, and those that ran. If
// there are none, they are missing.
func (j judge) matching(v *Verdict, match []cellid.Pattern) []string {
	ids := reports.Each(j.Catalog, func(p evidence.Planned) string { return p.ID })
	for _, c := range j.Cells {
		ids = append(ids, c.ID)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !matches(match, id) })
	if len(ids) == 0 {
		v.Missing = append(v.Missing, Missing{What: fmt.Sprintf("there is no cell %s on these releases", patterns(match))})
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func matches(match []cellid.Pattern, id string) bool {
	return slices.ContainsFunc(match, func(p cellid.Pattern) bool { return p.Match(id) })
}

func texts(match []cellid.Pattern) []string {
	return reports.Each(match, cellid.Pattern.String)
}

func patterns(match []cellid.Pattern) string { return strings.Join(texts(match), ", ") }
