package diff

import "fmt"

// Section is a part of a diff.
type Section string

// The sections.
const (
	SubjectSection      Section = "subject"
	RegressionsSection  Section = "regressions"
	FixesSection        Section = "fixes"
	ChangedSection      Section = "changed"
	NewSection          Section = "new"
	GoneSection         Section = "gone"
	RequirementsSection Section = "requirements"
	SlowerSection       Section = "slower"
)

// Sections returns every section, in the order in which they are shown.
func Sections() []Section {
	return []Section{
		SubjectSection, RegressionsSection, FixesSection, ChangedSection,
		NewSection, GoneSection, RequirementsSection, SlowerSection,
	}
}

// Count returns how many entries a section has. A problem with a run as a whole
// that is new counts as a regression, and one that is gone as a fix.
func (d Diff) Count(s Section) int {
	switch s {
	case SubjectSection:
		return len(d.Subject)
	case RegressionsSection:
		return len(d.Regressions) + len(d.Problems.New)
	case FixesSection:
		return len(d.Fixes) + len(d.Problems.Gone)
	case ChangedSection:
		return len(d.Changed)
	case NewSection:
		return len(d.New)
	case GoneSection:
		return len(d.Gone)
	case RequirementsSection:
		return len(d.Requirements)
	case SlowerSection:
		return len(d.Slower)
	default:
		return 0
	}
}

// Any stands for all sections but the volatile one, slower.
const Any = "any"

// ParseSections reads the names of sections, or Any.
func ParseSections(names []string) ([]Section, error) {
	var found []Section
	for _, name := range names {
		matched := false
		for _, s := range Sections() {
			if name == string(s) || name == Any && s != SlowerSection {
				found, matched = append(found, s), true
			}
		}
		if !matched {
			return nil, fmt.Errorf("%q is no part of a diff: there are %q, and %q for all but %q", name, Sections(), Any, SlowerSection)
		}
	}
	return found, nil
}
