package reports

import "github.com/skewrig/skewrig/harness/release"

// Source is a checkout of Kubernetes from which components were compiled, in the place of a
// release.
type Source struct {
	// Component is the one. If unset, each that ran in the place of the release was.
	Component string `json:"component,omitempty"`
	// Instead is the release by which cells and scenarios call it.
	Instead release.Version `json:"instead"`
	// Version is what it called itself: that of hack/lib/version.sh, and the beginning of the
	// digest of its files.
	Version release.Version `json:"version"`
	// Dir is the directory on the machine of the run, and Commit the one that was checked out.
	Dir    string `json:"dir"`
	Commit string `json:"commit"`
	// Tree is the digest of its files, as git has it.
	Tree string `json:"tree"`
	// Diff is what the files have that Commit does not, as git apply takes it. If unset, they
	// were as committed.
	Diff string `json:"diff,omitempty"`
	// Gates are its feature gates, a line for each: name, stage, default, and whether it is
	// locked and which it needs.
	Gates string `json:"gates"`
}

// Releases makes known what the sources of a run, and releases without a table, say of themselves,
// and returns the sources, and the pair of the run, as plans have them.
func (r Reproduce) Releases() (all release.Releases, err error) {
	all.Newest, all.Previous = r.Newest, r.Previous
	for v, text := range r.Gates {
		gates, err := release.ParseGates(text)
		if err != nil {
			return all, err
		}
		release.Learn(v, gates)
	}
	for _, s := range r.Sources {
		gates, err := release.ParseGates(s.Gates)
		if err != nil {
			return all, err
		}
		release.Learn(s.Version, gates)
		all.Sources = append(all.Sources, release.Source{Component: s.Component, Instead: s.Instead, Version: s.Version})
	}
	return all, nil
}
