package known

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

// Load reads a list from a file. See Parse for the errors.
func Load(path string) (List, error) {
	data, err := files.Read(path, files.MaxText)
	if err != nil {
		return List{}, fmt.Errorf("loading known deviations: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a list from the content of a file. It is strict: an unknown field,
// a duplicate key, a wrong type, a missing reason or link, a malformed pattern and
// an entry that is said twice are errors. All of them are returned at once, as *strict.Errors.
func Parse(file string, data []byte) (List, error) {
	var list struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		// Preparation is that of the findings that are prepared.
		Preparation string      `json:"preparation,omitempty"`
		Findings    []finding   `json:"findings,omitempty"`
		Deviations  []Deviation `json:"deviations,omitempty"`
	}
	document := strict.ReadDocument(file, data, &list)
	document.Constant("apiVersion", list.APIVersion, reports.APIVersion)
	document.Constant("kind", list.Kind, Kind)
	if !document.Has("findings") && !document.Has("deviations") && document.Clean("") {
		document.Note("", "the field deviations is missing")
	}
	var all List
	seen := make(map[string]bool)
	for i := range list.Findings {
		f, at := &list.Findings[i], fmt.Sprintf("findings[%d]", i)
		f.Rank = i + 1
		document.Refuse(at+".prepared", f.Prepared && list.Preparation == "", "the list has no preparation")
		if f.Prepared {
			f.Preparation = list.Preparation
		}
		f.check(document, at)
		document.Refuse(at+".id", seen[f.ID], "%s is the id of another finding", strict.Quote(f.ID))
		seen[f.ID] = true
		all.Deviations = append(all.Deviations, f.Explains...)
	}
	for i := range list.Deviations {
		list.Deviations[i].check(document, fmt.Sprintf("deviations[%d]", i))
	}
	if err := document.Err(); err != nil {
		return List{}, err
	}
	all.Deviations = append(all.Deviations, list.Deviations...)
	if err := strict.AsError(all.saidTwice()); err != nil {
		return List{}, err
	}
	return all, nil
}

// saidTwice finds each entry that is of the same check of the same cells as one
// before it: of which of the two a reader learns would be chance.
func (l List) saidTwice() (problems []strict.Problem) {
	for i, d := range l.Deviations {
		for _, before := range l.Deviations[:i] {
			if d.repeats(before) {
				problems = append(problems, strict.Problem{Position: d.At, Message: fmt.Sprintf("line %d is of the same check of the same cells: say it once", before.At.Line)})
			}
		}
	}
	return problems
}

// repeats reports whether an entry is of a check, or of a requirement, that another is
// of, on the same releases.
func (d Deviation) repeats(other Deviation) bool {
	sameReleases := d.Releases.unset() || other.Releases.unset() || d.Releases.String() == other.Releases.String()
	if d.Cells.String() != other.Cells.String() || d.Requirement != other.Requirement || !sameReleases {
		return false
	}
	return len(d.Checks)+len(other.Checks) == 0 || slices.ContainsFunc(d.Checks, func(p cellid.Pattern) bool {
		return slices.ContainsFunc(other.Checks, func(q cellid.Pattern) bool { return p.String() == q.String() })
	})
}

// finding is an entry that says more than why checks fail.
type finding struct {
	reports.Finding
	// Prepared says that the script needs the preparation of the list.
	Prepared bool `json:"prepared,omitempty"`
	// Explains are the checks that it is seen by. Reason and link are the finding's
	// where they say nothing else.
	Explains []Deviation `json:"explains"`
}

// check notes what is wrong with a finding, which stands at a path, and has its
// deviations say what it is.
func (f *finding) check(document *strict.Document, at string) {
	texts := []*string{&f.Headline, &f.Instead, &f.Effect, &f.Seen, &f.Ask, &f.Preparation, &f.Without, &f.Since, &f.FixedBy}
	for i, field := range []string{"headline", "instead", "effect", "seen", "ask", "preparation", "without", "since", "fixedBy"} {
		*texts[i] = strings.TrimSpace(*texts[i])
		document.Refuse(at+"."+field, *texts[i] == "" && document.Has(at+"."+field), "it is empty")
	}
	err := cellid.Check(f.ID)
	document.Refuse(at+".id", err != nil, "%v", err)
	document.Refuse(at+".class", !slices.Contains(reports.Classes(), f.Class), "it can be one of %v", reports.Classes())
	document.Refuse(at+".rank", true, "its place in the list is the rank: leave it out")
	document.Refuse(at+".explains", len(f.Explains) == 0, "it is empty: the finding would explain nothing")
	if f.Link == "" && f.Issue == "" && len(f.At) > 0 {
		f.Link = f.At[0]
	}
	if document.Clean(at) && (f.Issue == "") == (f.Link == "") {
		document.Note(at, "issue, link and at are missing, or issue and link are both there: an entry says where it is reported, or else where it is described")
	}
	for i, address := range f.At {
		_, is := reports.WebAddress(address)
		document.Refuse(fmt.Sprintf("%s.at[%d]", at, i), !is, "%q is not the address of a web page", address)
	}
	for i := range f.Explains {
		d := &f.Explains[i]
		d.Finding = &f.Finding
		d.Reason, d.Link = cmp.Or(d.Reason, f.Instead), cmp.Or(d.Link, f.Issue, f.Link)
		d.check(document, fmt.Sprintf("%s.explains[%d]", at, i))
	}
}

// check notes what is wrong with an entry, which stands at a path.
func (d *Deviation) check(document *strict.Document, at string) {
	d.At = document.Position(at)
	for name, text := range map[string]*string{"requirement": &d.Requirement, "reason": &d.Reason, "link": &d.Link} {
		*text = strings.TrimSpace(*text)
		if *text == "" && document.Clean(at+"."+name) {
			document.Note(at+"."+name, "it is empty")
		}
	}
	if len(d.Checks) == 0 && document.Clean(at+".checks") {
		document.Note(at+".checks", "it is empty: it would match nothing")
	}
	if document.Clean(at) && !document.Has(at+".checks") && !document.Has(at+".requirement") {
		document.Note(at, "checks or requirement is missing: an entry must say what fails")
	}
	for name, missing := range map[string]bool{"reason": d.Reason == "", "link": d.Link == ""} {
		if entry, _ := document.Find(at); missing && entry.Kind == yaml.MappingNode && !document.Has(at+"."+name) {
			document.Note(at, "the field %s is missing", name)
		}
	}
	if _, is := reports.WebAddress(d.Link); !is && d.Link != "" {
		document.Note(at+".link", "%q is not the address of a web page", d.Link)
	}
}
