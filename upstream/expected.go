package upstream

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// Kind says what a list of expectations is. Its apiVersion is that of reports.
const Kind = "UpstreamExpectations"

// Expectation is about specs that can't pass on a rig.
type Expectation struct {
	// Specs is a regular expression that matches their names.
	Specs string `json:"specs"`
	// Reason says what they need that the rig fakes.
	Reason string `json:"reason"`
	// Kubelets are the releases with which they can't pass, as a range of package release:
	// "< 1.37". If unset, all.
	Kubelets string `json:"kubelets,omitempty"`
	// Runtime is the container runtime with which they can't pass (record.Runtimes). If unset, all.
	Runtime string `json:"runtime,omitempty"`
	// NotRun is true if they are not even run: they would wait for minutes for what can't
	// happen.
	NotRun bool `json:"notRun,omitempty"`

	matches  *regexp.Regexp
	releases release.Range
}

// Expectations are a list of them. The first one that matches a spec counts.
type Expectations []Expectation

//go:embed expected.yaml
var expected []byte

// Expected are the expectations of all releases.
func Expected() (Expectations, error) { return ParseExpectations("upstream/expected.yaml", expected) }

// ParseExpectations reads a list. The error says everything that is wrong.
func ParseExpectations(file string, text []byte) (Expectations, error) {
	var list struct {
		APIVersion string       `json:"apiVersion"`
		Kind       string       `json:"kind"`
		Specs      Expectations `json:"specs"`
	}
	document := strict.ReadDocument(file, text, &list)
	document.Constant("apiVersion", list.APIVersion, reports.APIVersion)
	document.Constant("kind", list.Kind, Kind)
	for i := range list.Specs {
		list.Specs[i].check(document, fmt.Sprintf("specs[%d]", i))
	}
	return list.Specs, document.Err()
}

// check notes what is wrong with an expectation, and prepares it.
func (e *Expectation) check(document *strict.Document, at string) {
	var err error
	e.matches, err = regexp.Compile(e.Specs)
	document.Refuse(at+".specs", e.Specs == "", "it says which specs: a regular expression that matches their names")
	document.Refuse(at+".specs", err != nil, "%v", err)
	document.Refuse(at+".reason", strings.TrimSpace(e.Reason) == "", "it says what the specs need that a rig fakes")
	document.Refuse(at+".runtime", e.Runtime != "" && !slices.Contains(record.Runtimes, e.Runtime), "it is one of %s", strings.Join(record.Runtimes, ", "))
	if e.Kubelets != "" {
		e.releases, err = release.ParseRange(e.Kubelets)
		document.Refuse(at+".kubelets", err != nil, "%v", err)
	}
}

// Of returns what is expected of a spec on a rig, and nil if it is to pass.
func (all Expectations) Of(spec Spec, on Rig) *Expectation {
	for i, e := range all {
		if e.matches.MatchString(spec.Name) && (e.Kubelets == "" || e.releases.Has(on.Kubelet)) && (e.Runtime == "" || e.Runtime == on.runtime()) {
			return &all[i]
		}
	}
	return nil
}

// Unmatched are the expressions of expectations that are about none of the specs.
func (all Expectations) Unmatched(specs []Spec) (expressions []string) {
	for _, e := range all {
		if !slices.ContainsFunc(specs, func(s Spec) bool { return e.matches.MatchString(s.Name) }) {
			expressions = append(expressions, e.Specs)
		}
	}
	return expressions
}
