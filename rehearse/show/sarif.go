package show

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// SARIF writes a report as SARIF 2.1.0, for code scanning: a rule for each class of findings and one for notices, and a
// result for each object of a finding. Documents that were left out are notifications of the tool, known findings are
// suppressed results without a level.
func SARIF(w io.Writer, r rehearse.Report, version string) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "skewrig", Version: version, InformationURI: "https://" + reports.Repository, Rules: sarifRules()}},
		BaseIDs:    map[string]sarifBase{sourceRoot: {sarifText{"the directory in which skewrig was started"}}},
		ColumnKind: "unicodeCodePoints", Invocations: []sarifInvocation{invocationOf(r)}, Results: []sarifResult{},
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, resultsOf(f, r)...)
	}
	for _, f := range r.Known {
		for _, result := range resultsOf(f, r) {
			result.Kind, result.Level = "informational", "none"
			result.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Justification: render.Line(f.Accepted)}}
			run.Results = append(run.Results, result)
		}
	}
	for _, n := range r.Notices {
		at := n.Objects
		if len(at) == 0 {
			at = []rehearse.Ref{anywhere(r)}
		}
		for _, o := range at {
			run.Results = append(run.Results, newResult(noticeRule, "note", render.Line(n.Text), o, n.Text))
		}
	}
	return render.JSON(w, sarifFile{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

const (
	// sourceRoot is the name that code scanning knows for the root of a repository.
	sourceRoot = "%SRCROOT%"
	noticeRule = "notice"
)

type (
	sarifFile struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool            `json:"tool"`
		BaseIDs     map[string]sarifBase `json:"originalUriBaseIds"`
		ColumnKind  string               `json:"columnKind"`
		Invocations []sarifInvocation    `json:"invocations"`
		Results     []sarifResult        `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID      string     `json:"id"`
		Name    string     `json:"name"`
		Short   sarifText  `json:"shortDescription"`
		Full    sarifText  `json:"fullDescription"`
		Help    sarifText  `json:"help"`
		Default sarifLevel `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Kind         string             `json:"kind,omitempty"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

func sarifRules() (rules []sarifRule) {
	for _, what := range rehearse.Whats() {
		rules = append(rules, newRule(ruleID(what), render.Title(string(what)), what.Meaning(), "error"))
	}
	return append(rules, newRule(noticeRule, "Worth knowing", "A deprecated API, a warning of the API server, or a gate that changes its default.", "note"))
}

func newRule(id, title, meaning, level string) sarifRule {
	var name strings.Builder
	for word := range strings.SplitSeq(id, "-") {
		name.WriteString(reports.Capitalize(word))
	}
	help := meaning + " skewrig saw it as the control plane went to another release and back, and not on a control plane that stayed at its release."
	if level == "note" {
		help = meaning + " It is no finding."
	}
	return sarifRule{ID: id, Name: name.String(), Short: sarifText{title}, Full: sarifText{meaning}, Help: sarifText{help}, Default: sarifLevel{level}}
}

// ruleID is the class as an identifier: field-lost.
func ruleID(what rehearse.What) string {
	return strings.ReplaceAll(strings.ToLower(render.Line(string(what))), " ", "-")
}

// resultsOf has a result for each object of a finding, or one if it has none.
func resultsOf(f rehearse.Finding, r rehearse.Report) (results []sarifResult) {
	at := f.Objects
	if len(at) == 0 {
		at = []rehearse.Affected{{Ref: anywhere(r)}}
	}
	for _, o := range at {
		message := []string{fmt.Sprintf("%s, %s (%s -> %s): %s", render.Title(string(f.What)), direction(f), r.From, r.To, render.Line(f.Summary))}
		for _, more := range []struct{ lead, text string }{{"", o.Detail}, {"Why: ", f.Cause}, {"Before the upgrade: ", f.Advice}} {
			if more.text != "" {
				message = append(message, more.lead+strings.TrimSuffix(render.Line(more.text), "."))
			}
		}
		results = append(results, newResult(ruleID(f.What), "error", strings.Join(message, ". ")+".", o.Ref, string(f.Stage), f.Summary))
	}
	return results
}

// newResult is a result at an object. Its fingerprint is of the rule, the object and what else identifies it, and not of
// the line: a result stays the same when a file grows.
func newResult(rule, level, message string, o rehearse.Ref, identity ...string) sarifResult {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{rule, o.APIVersion, o.Kind, o.Namespace, o.Name}, identity...), "\x00")))
	print := hex.EncodeToString(sum[:16])
	index := slices.IndexFunc(sarifRules(), func(r sarifRule) bool { return r.ID == rule })
	return sarifResult{
		RuleID: rule, RuleIndex: index, Level: level, Message: sarifText{message}, Locations: []sarifLocation{locationOf(o)},
		// Code scanning knows the first name only, and sets it by the text around the line if it is missing.
		Fingerprints: map[string]string{"primaryLocationLineHash": print + ":1", "skewrigFinding/v1": print},
	}
}

// anywhere is the place of what has no object: where the input begins.
func anywhere(r rehearse.Report) rehearse.Ref {
	for _, o := range r.Objects {
		return rehearse.Ref{Place: manifest.Place{File: o.File, Line: 1}}
	}
	return rehearse.Ref{Place: manifest.Place{File: "-", Line: 1}}
}

func locationOf(o rehearse.Ref) sarifLocation {
	l := sarifLocation{Physical: physicalOf(o.Place)}
	if o.Name != "" {
		l.Logical = []sarifLogical{{Name: render.Line(o.String()), Kind: "resource"}}
	}
	return l
}

// physicalOf is a file and a line. Code scanning refuses a file with a result that has none: what was read from standard
// input is at the template of the chart, or in a file called stdin.
func physicalOf(p manifest.Place) sarifPhysical {
	file, line := filepath.ToSlash(p.File), max(p.Line, 1)
	if file == "-" || file == "" {
		file = cmp.Or(p.Template, "stdin")
		if p.Template != "" {
			line = 1 // the lines are those of the rendered chart
		}
	}
	at := sarifArtifact{BaseID: sourceRoot}
	address := url.URL{Path: path.Clean(file)}
	if path.IsAbs(file) {
		address.Scheme, at.BaseID = "file", ""
	}
	at.URI = address.String()
	return sarifPhysical{Artifact: at, Region: sarifRegion{line}}
}

// invocationOf says whether the rehearsal ran to its end, and which documents were left out.
func invocationOf(r rehearse.Report) sarifInvocation {
	why := unjudged(r)
	i := sarifInvocation{Successful: why == ""}
	if why != "" {
		i.Notifications = []sarifNotification{{Level: "error", Message: sarifText{Answer(r)}}}
	}
	for _, p := range r.Problems {
		i.Notifications = append(i.Notifications, sarifNotification{
			Level: "warning", Message: sarifText{"Left out: " + render.Line(p.Error())}, Locations: []sarifLocation{{Physical: physicalOf(p.Place)}},
		})
	}
	return i
}
