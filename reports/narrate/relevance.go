package narrate

import (
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// failing are the names in what the checks expect that do not hold.
func (b *builder) failing() (names reports.Names) {
	for _, c := range b.in.Result.Checks {
		if isFailed(c) {
			names = append(names, b.in.Named[c.ID]...)
		}
	}
	return names
}

// isFailed reports whether a check does not hold, or is not known to.
func isFailed(c reports.Check) bool {
	return c.Outcome != reports.Pass && c.Outcome != reports.NotApplicable
}

// relevant says which attempts the checks that failed are about.
func (b *builder) relevant(attempts []attempt) func(*attempt) bool {
	return relevantTo(attempts, b.failing())
}

// relevantTo says which attempts a check is about: those of a pod that it names, and if it
// names containers of the pod, those of them. Where it names nothing, it is those that
// failed.
func relevantTo(attempts []attempt, names reports.Names) func(*attempt) bool {
	if !names.Known() {
		return func(a *attempt) bool { return a.Tone.wrong() }
	}
	containers := names.Containers()
	named := func(a *attempt) bool {
		return slices.ContainsFunc(containers, func(name string) bool { return isOf(a, name) })
	}
	narrow := make(map[string]bool) // the pods of which containers are named
	for _, a := range attempts {
		pod := timeline.PodOf(a.Container)
		narrow[pod] = narrow[pod] || named(&a)
	}
	return func(a *attempt) bool {
		pod := timeline.PodOf(a.Container)
		return names.HasPodOf(a.Container) && (named(a) || !narrow[pod])
	}
}

// isOf reports whether an attempt is a container's: it was asked, or its probe asks.
func isOf(a *attempt, container string) bool {
	by := strings.ReplaceAll(a.By, ",", " ") + " "
	return path.Base(a.Container) == container || strings.Contains(by, " of "+container+" ")
}
