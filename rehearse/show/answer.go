package show

import (
	"fmt"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// maxBrief is how much of one text a line has, in characters.
const maxBrief = 160

// Answer answers in a line: may I upgrade, and may I go back? It never says yes of what did not run.
func Answer(r rehearse.Report) string {
	from := rehearse.Releases(r.From, r.Nodes)
	if why := unjudged(r); why != "" {
		until := ""
		if n := len(r.Findings); n > 0 {
			until = ", after " + reports.Counted(n, "finding")
		}
		return fmt.Sprintf("%s -> %s and back: NOT JUDGED%s: %s.", from, r.To, until, why)
	}
	if len(r.Stages) == 1 {
		return fmt.Sprintf("%s: %s. The upgrade was not rehearsed.", from, atRest(r))
	}
	forward, back := answer(r, false), answer(r, true)
	switch {
	case forward == yes:
		forward += ", nothing changes for " + subject(r)
	case back == yes:
		back += ", for " + subject(r)
	}
	return fmt.Sprintf("%s -> %s: %s. Back to %s: %s.", from, r.To, forward, r.From, back)
}

const yes = "yes"

// atRest says how many objects are stored, and how many of them came to rest.
func atRest(r rehearse.Report) string {
	pending := len(reports.Only(r.Objects, func(o rehearse.Object) bool { return o.Pending != "" }))
	text := fmt.Sprintf("%d of %s came to rest", len(r.Objects)-pending, reports.Counted(len(r.Objects), "object"))
	if len(r.Problems) > 0 {
		text += ", " + leftOut(r)
	}
	return text
}

// unjudged is why a report has no answer. It is empty if it has one.
func unjudged(r rehearse.Report) string {
	switch {
	case r.Failed != "":
		return "the rehearsal ended early, " + render.Brief(r.Failed, maxBrief)
	case len(r.Objects) == 0 && len(r.Problems) > 0:
		return "no object was stored, and " + leftOut(r)
	case len(r.Objects) == 0:
		return "the input has no objects"
	}
	return ""
}

// answer is the answer for the upgrade, or for the way back.
func answer(r rehearse.Report, back bool) string {
	switch found, ran := r.Found(back); {
	case len(found) > 0:
		return "NO, " + reports.Counted(len(found), "finding")
	case !ran:
		return "NOT JUDGED, it was not rehearsed"
	}
	return yes
}

// subject is what the answer is for.
func subject(r rehearse.Report) string {
	if len(r.Problems) == 0 {
		return "your " + reports.Counted(len(r.Objects), "object")
	}
	return fmt.Sprintf("the %s that %s stored (%s)", reports.Counted(len(r.Objects), "object"), was(len(r.Objects)), leftOut(r))
}

func leftOut(r rehearse.Report) string {
	return fmt.Sprintf("%s %s left out", reports.Counted(len(r.Problems), "document"), was(len(r.Problems)))
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// direction says on which way a finding first shows.
func direction(f rehearse.Finding) string {
	if f.Stage.IsBack() {
		return "on the way back"
	}
	return "during the upgrade"
}

// happens says what happens in the stage that first shows a finding.
func happens(f rehearse.Finding) string {
	if i := f.Stage.Index(); i >= 0 {
		return rehearse.Stages[i].Does
	}
	return render.Brief(string(f.Stage), maxBrief)
}

// named is an object with its place: "deploy/web.yaml:12 Deployment shop/web".
func named(r rehearse.Ref) string {
	if r.File == "" {
		return render.Brief(r.String(), maxBrief)
	}
	return render.Brief(r.Place.String()+" "+r.String(), maxBrief)
}

// few names the first objects, and says how many more there are.
func few(refs []rehearse.Ref, shown int) string {
	return reports.Few(reports.Each(refs, named), shown)
}
