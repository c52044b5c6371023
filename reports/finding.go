package reports

import (
	"cmp"
	"slices"
	"strings"
)

// Class says what a finding is of.
type Class string

// The classes of findings.
const (
	// Defect means that a release is at fault.
	Defect Class = "defect"
	// Contradiction means that a text says two things, and no release can do both.
	Contradiction Class = "contradiction"
	// Outrun means that the text is behind: what releases do is meant, or as good.
	Outrun Class = "text-outrun"
	// KnownBug means that it is reported, or meant by those who wrote it.
	KnownBug Class = "known-bug"
	// Unlisted means that no list of known deviations has it.
	Unlisted Class = "unlisted"
)

// classInfo is what a class of findings is called, and what it says.
type classInfo struct {
	class         Class
	word, heading string
	// ofText says that a text is at fault, and not a release.
	ofText bool
}

// classes are the classes by weight. A new one is a line here.
var classes = []classInfo{
	{Defect, "defect", "Defects of releases", false},
	{Contradiction, "text contradicts itself", "Texts that contradict themselves", true},
	{Outrun, "text behind the code", "Texts that are behind the code", true},
	{KnownBug, "known bug", "Known bugs", false},
	{Unlisted, "new", "New", false},
}

// Classes lists the classes that a list of known deviations may have, by weight.
func Classes() (all []Class) {
	for _, c := range classes {
		if c.class != Unlisted {
			all = append(all, c.class)
		}
	}
	return all
}

// Meaning returns what a class says, in a heading.
func (c Class) Meaning() string { return c.info().heading }

// Word returns what a class is called of one finding.
func (c Class) Word() string { return c.info().word }

// OfText reports whether the text of a proposal is at fault, and not a release.
func (c Class) OfText() bool { return c.info().ofText }

// info is the line of a class. Of an unknown class it is empty.
func (c Class) info() (found classInfo) {
	for _, one := range classes {
		if one.class == c {
			found = one
		}
	}
	return found
}

// Finding is what a list of known deviations says of one of them.
type Finding struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`
	// Rank is the place in the list, from 1. Within a class, what has more effect on
	// users stands first.
	Rank int `json:"rank,omitempty"`
	// Headline says it in plain words, Instead what happens instead of what the
	// statement says, Effect what that means for a user.
	Headline string `json:"headline"`
	Instead  string `json:"instead"`
	Effect   string `json:"effect"`
	// Seen says what is seen where a known regression is reproduced, in words. {observed}
	// stands for what the check observed; of something that grew, {number} is how many there
	// were and {limit} how many there may be. If unset, it is no regression.
	Seen string `json:"seen,omitempty"`
	// Ask is what the authors of the code or of the text are asked for.
	Ask string `json:"ask,omitempty"`
	// At is where in the code it is decided, as addresses with a release and a line. If
	// unset, it is not known.
	At []string `json:"at,omitempty"`
	// Preparation is what Without needs first: shell functions, which other findings share.
	// If unset, it needs nothing.
	Preparation string `json:"preparation,omitempty"`
	// Without is a shell script that shows it without skewrig. If unset, there is
	// none.
	Without string `json:"without,omitempty"`
	// Since and FixedBy say which change brought it, and which one fixed it, with
	// release and address. If unset, that is not known, or there is none.
	Since   string `json:"since,omitempty"`
	FixedBy string `json:"fixedBy,omitempty"`
	// Issue is where it is reported. If unset, it is not reported yet.
	Issue string `json:"issue,omitempty"`
	// Link is where it is described, if it is not reported.
	Link string `json:"link,omitempty"`
}

// Script is Without with what it needs first. It is empty if there is none.
func (f Finding) Script() string {
	if f.Without == "" {
		return ""
	}
	return strings.TrimSpace(f.Preparation + "\n" + f.Without)
}

// ScriptNote says of a Script whether it was ever run.
const ScriptNote = "This script was not run for this report. The project's tests check the shell and the manifests of its scripts, but run none of them in a cluster."

// Compare orders findings by weight.
func (f Finding) Compare(g Finding) int {
	classes := Classes()
	return cmp.Or(cmp.Compare(slices.Index(classes, f.Class), slices.Index(classes, g.Class)), cmp.Compare(f.Rank, g.Rank), cmp.Compare(f.ID, g.ID))
}

// FindingOf returns the finding with an id. It is empty if there is none.
func FindingOf(findings []Finding, id string) Finding {
	if i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == id }); i >= 0 {
		return findings[i]
	}
	return Finding{}
}

// explaining returns those of the findings that explain a check of the cells, or one
// like it, by weight, each once.
func explaining(findings []Finding, cells []Cell) []Finding {
	named := make(map[string]bool)
	for _, c := range cells {
		for _, check := range c.Checks {
			named[check.Finding], named[check.Like] = true, true
		}
	}
	seen := make(map[string]bool)
	kept := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool {
		drop := !named[f.ID] || seen[f.ID]
		seen[f.ID] = true
		return drop
	})
	slices.SortStableFunc(kept, Finding.Compare)
	return kept
}

// Explained returns the report with those of the findings that its checks name.
func (r Report) Explained(findings []Finding) Report {
	r.Findings = explaining(findings, r.Cells)
	return r
}
