package rehearse

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Of is the report on what was seen of the objects of an input. Storing is the outcome of storing them.
func Of(s Seen, in manifest.Input, storing Storing) Report {
	r := Report{Kind: Kind, From: s.From, To: s.To, Nodes: s.Nodes, Problems: slices.Concat(in.Problems, storing.Problems), Mocked: storing.Mocked, Inert: storing.Inert}
	r.Read = Reading{Files: in.Files, Documents: in.Documents, Objects: len(in.Objects)}
	for _, stage := range s.Subject.Stages {
		r.Stages = append(r.Stages, stage.StageResult)
	}
	for _, i := range s.Items {
		if i.hasPods() {
			r.Read.Workloads++
		}
		r.Objects = append(r.Objects, Object{Ref: i.Ref, Pending: s.pending(i)})
	}
	if custom := customResources(s.Items); len(custom) > 0 && len(s.Operators) == 0 {
		r.Inert = append(r.Inert, Inert{Why: "no operator runs here, so custom resources are only stored", Objects: custom})
	}
	if len(s.Subject.Stages) > 0 && s.Subject.Timeline != nil {
		r.Findings, r.Notices = Judge(s)
	}
	if s.Twin.Exit != "" {
		r.Failed = "a component ended by itself on the control plane that stays at " + string(s.From) + ": " + s.Twin.Exit
	} else if len(s.Subject.Stages) <= cmp.Or(s.Until, Deleted).Index() && s.Subject.Exit == "" {
		r.Failed = "the rehearsal ended early"
	}
	return r
}

// customResources are the objects whose kinds are not Kubernetes' own.
func customResources(items []Item) (all []Ref) {
	for _, i := range items {
		if kube.ByName(i.Kind).Name == "" {
			all = append(all, i.Ref)
		}
	}
	return all
}

// Storing is the outcome of storing objects.
type Storing struct {
	// Problems are the objects that were refused.
	Problems []manifest.Problem
	// Mocked says what was changed of the objects, or added to them, and Inert are those that nothing acts on.
	Mocked []string
	Inert  []Inert
}

// pending is why an object did not come to rest at From, by what its first pod says that is not ready.
func (s Seen) pending(i Item) string {
	stored := s.Subject.stage(Stored)
	if stored == nil || stored.Objects[i.Key] == nil {
		return ""
	}
	why := notReadyBy(stored.Objects[i.Key])
	if why == "" || s.Subject.Timeline == nil {
		return why
	}
	if pod := s.podOf(i, stored); pod != "" {
		why += ": " + pod
	}
	return why
}
