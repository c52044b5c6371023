// Package recall says which of a list of known bugs sweeps have found by themselves. The list is a table with a row for each
// bug; a sweep knows nothing of it.
package recall

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/sweep/story"
)

// Row is a bug that users met.
type Row struct {
	// Name is that of the row, and ID the change that mended the bug.
	Name string `json:"row"`
	ID   string `json:"id"`
	// Component is the program that has it, and Class the kind of harm.
	Component string `json:"component"`
	Class     string `json:"oracle_class"`
	// What, Trigger and Oracle are what goes wrong, what it takes, and how it is seen.
	What    string `json:"what_goes_wrong"`
	Trigger string `json:"trigger"`
	Oracle  string `json:"oracle"`
	// Red is a release that has it, and Green one that has not. If Green is unset, none can be had.
	Red   release.Version `json:"newest_red_served"`
	Green release.Version `json:"first_green_served"`
	// Dimensions are what a sweep has to vary.
	Dimensions []string `json:"dimensions"`
}

// none is an empty value of the list.
const none = "-"

// Read reads a list: tab-separated values below a line with the names of the columns.
func Read(text string) (rows []Row, _ error) {
	var columns []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		values := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if columns == nil {
			columns = values
			for _, needed := range []string{"row", "id", "component", "trigger", "oracle", "oracle_class", "newest_red_served", "first_green_served", "dimensions"} {
				if !slices.Contains(columns, needed) {
					return nil, fmt.Errorf("line 1: no column %q: required", needed)
				}
			}
			continue
		}
		if len(values) != len(columns) {
			return nil, fmt.Errorf("line %d: %d columns, and line 1 has %d", n, len(values), len(columns))
		}
		of := make(map[string]string)
		for i, name := range columns {
			of[name] = values[i]
		}
		row := Row{
			Name: of["row"], ID: of["id"], Component: of["component"], Class: of["oracle_class"], What: of["what_goes_wrong"], Trigger: of["trigger"],
			Oracle: of["oracle"], Red: versionOf(of["newest_red_served"]), Green: versionOf(of["first_green_served"]), Dimensions: strings.Fields(of["dimensions"]),
		}
		if row.Red == "" {
			return nil, fmt.Errorf("line %d: newest_red_served: required", n)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// versionOf is a release; a tilde says that the list is not sure.
func versionOf(text string) release.Version {
	if text == none {
		return ""
	}
	return release.Version(strings.TrimSuffix(text, "~"))
}

// Releases are those that rows need, each once, in their order.
func Releases(rows []Row) (all []release.Version) {
	for _, row := range rows {
		for _, v := range []release.Version{row.Red, row.Green} {
			if v != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// Verdict says whether a row was found.
type Verdict string

// The verdicts.
const (
	Found    Verdict = "found"
	OtherWay Verdict = "found in another way"
	Missed   Verdict = "missed"
	NotRun   Verdict = "not run"
)

// Answer is a row with its verdict.
type Answer struct {
	Row

	Verdict Verdict `json:"verdict"`
	// By are the findings that show it, as "Finding.Signature: story".
	By []string `json:"by,omitempty"`
	// Compared is true if a release without the bug was swept, too.
	Compared bool `json:"compared,omitempty"`
}

// Table is a list with its verdicts.
type Table struct {
	Answers []Answer `json:"answers"`
	// Others are findings that no row explains, by release.
	Others map[release.Version][]string `json:"others"`
}

// Judge says which rows the sweeps of releases have found. A row is found if a finding that was confirmed has its class and its
// component, and is about a kind that the row names, on the release that has the bug, and not on the one that has not.
func Judge(rows []Row, swept map[release.Version]story.Result) Table {
	t := Table{Others: make(map[release.Version][]string)}
	explained := make(map[release.Version]map[string]bool)
	for _, row := range rows {
		a := Answer{Row: row, Verdict: NotRun}
		red, ran := swept[row.Red]
		green, compared := row.without(swept)
		if ran && (row.Green == "" || compared) {
			a.Verdict, a.Compared = Missed, compared
			for _, f := range red.Findings {
				n := slices.IndexFunc(f.Found, func(of story.Found) bool { return of.Confirmed() && !shows(green, f, of) })
				if n < 0 || !row.isAbout(f) {
					continue
				}
				if explained[row.Red] == nil {
					explained[row.Red] = make(map[string]bool)
				}
				explained[row.Red][f.Signature()] = true
				a.By = append(a.By, f.Signature()+": "+f.Found[n].Story)
				if f.Class == row.Class {
					a.Verdict = Found
				} else if a.Verdict == Missed {
					a.Verdict = OtherWay
				}
			}
		}
		t.Answers = append(t.Answers, a)
	}
	for v, r := range swept {
		for _, f := range r.Findings {
			if !explained[v][f.Signature()] {
				t.Others[v] = append(t.Others[v], f.Signature())
			}
		}
	}
	return t
}

// shows reports whether a sweep has seen a finding with the same story.
func shows(r story.Result, f story.Finding, of story.Found) bool {
	for _, other := range slices.Concat(r.Findings, r.NotConfirmed) {
		if other.Signature() == f.Signature() && slices.ContainsFunc(other.Found, func(o story.Found) bool { return o.StoryID() == of.StoryID() }) {
			return true
		}
	}
	return false
}

// without is the sweep of a release that has not the bug: the oldest one of the minor version of Green from that on, or else the
// newest later one, since an early release of the next minor version may be older. It is false if none was swept to its end.
func (row Row) without(swept map[release.Version]story.Result) (r story.Result, is bool) {
	later := slices.SortedFunc(maps.Keys(swept), release.Version.Compare)
	later = slices.DeleteFunc(later, func(v release.Version) bool { return row.Green == "" || v.Compare(row.Green) < 0 || swept[v].Partial })
	switch {
	case len(later) == 0:
		return r, false
	case later[0].MajorMinor() == row.Green.MajorMinor():
		return swept[later[0]], true
	default:
		return swept[later[len(later)-1]], true
	}
}

// isAbout reports whether a finding is about the component of a row, and a kind that the row names.
func (row Row) isAbout(f story.Finding) bool {
	if !slices.Contains(f.Components, row.Component) {
		return false
	}
	if f.Resource == "" {
		return true
	}
	kind := kube.ByResource(f.Resource).Name
	if kind == "" {
		return false // of a definition
	}
	called := strings.Join(append(names[kind], kind), "|")
	return regexp.MustCompile(`\b(` + called + `)s?\b`).MatchString(row.What + " " + row.Trigger + " " + row.Oracle)
}

// names are how people call kinds otherwise.
var names = map[string][]string{
	"PodDisruptionBudget": {"PDB", "budget"}, "PersistentVolumeClaim": {"PVC", "claim"}, "ResourceQuota": {"quota"}, "Pod": {"pod"}, "ResourceClaim": {"claim"},
	"Event": {"event"}, "CustomResourceDefinition": {"CRD"},
}

// Count is how many rows have a verdict.
func (t Table) Count(v Verdict) (n int) {
	for _, a := range t.Answers {
		if a.Verdict == v {
			n++
		}
	}
	return n
}
