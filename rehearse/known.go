package rehearse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
)

// Known are findings that someone accepted, as a YAML or JSON file has them:
//
//	apiVersion: skewrig.dev/v1alpha1
//	kind: KnownFindings
//	findings:
//	- what: restarts
//	  object: Deployment/shop/web-*
//	  stage: nodes
//	  reason: one restart in the night of the upgrade is fine
type Known struct {
	// APIVersion and Kind say what the file is.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Findings are the entries.
	Findings []KnownFinding `json:"findings"`
}

// KnownKind is the kind of a file of known findings.
const KnownKind = "KnownFindings"

// KnownFinding is an entry of a list: it accepts what matches all of its fields.
type KnownFinding struct {
	// The class of the findings.
	What What `json:"what"`
	// Object has the objects: Kind/namespace/name, or Kind/name without a namespace. A * matches any characters but a slash.
	// If unset, the entry accepts findings without objects: components that panic.
	Object string `json:"object,omitempty"`
	// Summary matches the summary of the finding; a * matches any characters. If unset, any summary matches.
	Summary string `json:"summary,omitempty"`
	// Stage is the stage that shows it first. If unset, any stage matches.
	Stage StageName `json:"stage,omitempty"`
	// Reason says why it is accepted.
	Reason string `json:"reason"`

	at strict.Position
}

// ReadKnown reads a list from the content of a file. All that is wrong with it is returned at once, with lines.
func ReadKnown(file string, data []byte) (Known, error) {
	var known Known
	document := strict.ReadDocument(file, data, &known)
	document.Constant("apiVersion", known.APIVersion, reports.APIVersion)
	document.Constant("kind", known.Kind, KnownKind)
	document.Refuse("findings", len(known.Findings) == 0 && document.Has("findings"), "it is empty")
	for i := range known.Findings {
		k, at := &known.Findings[i], fmt.Sprintf("findings[%d]", i)
		k.at = document.Position(at)
		k.Reason = strings.TrimSpace(k.Reason)
		document.Refuse(at+".what", k.What.Weight() < 0, "unsupported value %s: supported values: %s", strict.Quote(string(k.What)), quoted(Whats()))
		document.Refuse(at+".stage", k.Stage != "" && k.Stage.Index() < 0, "unsupported value %s: supported values: %s", strict.Quote(string(k.Stage)), quoted(reports.Each(Stages, func(s Stage) StageName { return s.Name })))
		document.Refuse(at+".object", k.Object != "" && !objectPattern.MatchString(k.Object), "%s is not Kind/namespace/name or Kind/name", strict.Quote(k.Object))
		if k.Object == "" && k.What != Panics && document.Clean(at) {
			document.Note(at, "the field object is missing: Kind/namespace/name, or Kind/name; a * matches any characters but a slash")
		}
		document.Refuse(at+".reason", k.Reason == "", "required: why it is accepted")
	}
	return known, document.Err()
}

var objectPattern = regexp.MustCompile(`^[^/]+(/[^/]+){1,2}$`)

// quoted lists values for a message.
func quoted[T ~string](all []T) string {
	return strings.Join(reports.Each(all, func(one T) string { return fmt.Sprintf("%q", one) }), ", ")
}

// Without returns the report with what a list accepts as known: a finding keeps the objects that no entry accepts. An entry
// that matches nothing is a notice, unless the rehearsal ended early.
func (r Report) Without(known Known) Report {
	used := make([]bool, len(known.Findings))
	findings := r.Findings
	r.Findings, r.Known, r.Notices = nil, slices.Clone(r.Known), slices.Clone(r.Notices)
	for _, f := range findings {
		for i, k := range known.Findings {
			accepted, rest := k.split(f)
			if accepted == nil {
				continue
			}
			used[i] = true
			r.Known = append(r.Known, *accepted)
			f = rest
		}
		if len(f.Objects) > 0 || f.Accepted == "" {
			r.Findings = append(r.Findings, f)
		}
	}
	for i, k := range known.Findings {
		if !used[i] && r.Failed == "" {
			r.Notices = append(r.Notices, Notice{Text: fmt.Sprintf("the known finding at %s:%d matches nothing: remove it", k.at.File, k.at.Line)})
		}
	}
	return r
}

// split returns the part of a finding that an entry accepts, or nil, and the rest. A rest of which all is accepted says so.
func (k KnownFinding) split(f Finding) (accepted *Finding, rest Finding) {
	if f.Accepted != "" || k.What != f.What || k.Stage != "" && k.Stage != f.Stage || k.Summary != "" && !matches(k.Summary, f.Summary, ".*") {
		return nil, f
	}
	same, rest := f, f
	same.Accepted, same.Objects, rest.Objects = k.Reason, nil, nil
	for _, o := range f.Objects {
		if k.Object != "" && matches(k.Object, o.path(), "[^/]*") {
			same.Objects = append(same.Objects, o)
		} else {
			rest.Objects = append(rest.Objects, o)
		}
	}
	if len(same.Objects) == 0 && (len(f.Objects) > 0 || k.Object != "") {
		return nil, f
	}
	if len(rest.Objects) == 0 {
		rest.Accepted = k.Reason
	}
	return &same, rest
}

// path is Kind/namespace/name, or Kind/name.
func (r Ref) path() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// matches reports whether a pattern matches the whole of a text, in which each * stands for a regular expression.
func matches(pattern, text, star string) bool {
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, star) + ")$").MatchString(text)
}
