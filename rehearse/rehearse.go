// Package rehearse says what an upgrade, and the way back, do to objects that someone runs: the report, the stages of a
// rehearsal, and the judgment of what was seen. Package manifest reads the objects, engine stores them on real components
// and changes these, and show writes the report.
package rehearse

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse/manifest"
)

// Report is what a rehearsal came to.
type Report struct {
	// APIVersion and Kind say what a file is. The writer of JSON sets them.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// From is the release at which it begins, and to which it goes back.
	From release.Version `json:"from"`
	// To is the release that it goes to.
	To release.Version `json:"to"`
	// Nodes is the release of the nodes before the upgrade, and after the way back. If unset, it is From.
	Nodes release.Version `json:"nodes,omitempty"`
	// Gates are those that were set in the releases that have them. If unset, all have their defaults.
	Gates release.Gates `json:"gates,omitempty"`
	// Operators are the programs that acted on the objects. If unset, there were none.
	Operators []RanOperator `json:"operators,omitempty"`
	// Read counts what was read.
	Read Reading `json:"read"`
	// Problems are documents that were left out, each with the reason, in the order of the input.
	Problems []manifest.Problem `json:"problems"`
	// Stages are those that ran, in their order.
	Stages []StageResult `json:"stages"`
	// Objects are those that were stored, in the order of the input.
	Objects []Object `json:"objects"`
	// Findings are what the change does that staying does not, worst first.
	Findings []Finding `json:"findings"`
	// Known are findings that were accepted before. If unset, there are none.
	Known []Finding `json:"known,omitempty"`
	// Notices are worth knowing and never red: deprecated APIs, warnings of the API server, gates that change their default.
	Notices []Notice `json:"notices"`
	// Mocked says what was not real: images, volumes, load balancers.
	Mocked []string `json:"mocked"`
	// Inert are objects that nothing acted on.
	Inert []Inert `json:"inert"`
	// Failed is why the rehearsal ended early. If unset, it ran to its end.
	Failed string `json:"failed,omitempty"`
}

// Releases is the release of a control plane, with that of its nodes if it is another one.
func Releases(controlPlane, nodes release.Version) string {
	if nodes == "" || nodes == controlPlane {
		return string(controlPlane)
	}
	return fmt.Sprintf("%s (nodes %s)", controlPlane, nodes)
}

// Kind is the kind of a Report.
const Kind = "Rehearsal"

// RanOperator is a program that acted on the objects, in the place of the pods of a workload.
type RanOperator struct {
	// Name is that of the workload.
	Name string `json:"name"`
	// Program is its path, or PACKAGE@VERSION, with its arguments.
	Program string `json:"program"`
}

// Reading counts what was read.
type Reading struct {
	// Files and documents in them.
	Files     int `json:"files"`
	Documents int `json:"documents"`
	// Objects are those in the documents, with those of Lists.
	Objects int `json:"objects"`
	// Workloads are the objects that have pods.
	Workloads int `json:"workloads"`
}

// StageResult is a stage that ran.
type StageResult struct {
	Stage

	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
	// Restless is true if the stage ended before all objects were at rest.
	Restless bool `json:"restless,omitempty"`
}

// Ref is an object by its name, with where it was read.
type Ref struct {
	// APIVersion and Kind are those of the object.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is unset of objects without one.
	Namespace string `json:"namespace,omitempty"`
	// Name is that of the object.
	Name string `json:"name"`

	manifest.Place
}

// RefOf is an object by its name, with the namespace of its manifest.
func RefOf(o manifest.Object) Ref {
	object := unstructured.Unstructured{Object: o.Object}
	return Ref{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(), Place: o.Place}
}

// AsRead identifies an object by where it was read, with whatever namespace it is stored.
func (r Ref) AsRead() Ref {
	r.Namespace = ""
	return r
}

// String is "Deployment shop/web".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name)
}

// Object is an object that was stored.
type Object struct {
	Ref

	// Pending is why the object did not come to rest at From. If unset, it came to rest.
	Pending string `json:"pending,omitempty"`
}

// Finding is what a change does to objects for one cause, and staying at the release does not.
type Finding struct {
	// The class: see the constants.
	What What `json:"what"`
	// Summary says it in one line, without the names of objects: "the API server drops spec.x".
	Summary string `json:"summary"`
	// Stage is the first stage that shows it.
	Stage StageName `json:"stage"`
	// Field is what happens to: spec.template.spec.containers[].image. If unset, the finding is not about a field.
	Field string `json:"field,omitempty"`
	// Cause is what is responsible: a gate that guards the field, or an API that does not have it. If unset, it is not known.
	Cause string `json:"cause,omitempty"`
	// Advice is what to do before the upgrade.
	Advice string `json:"advice"`
	// Objects are those that show it, in the order of the input. There is at least one, but for components that panic.
	Objects []Affected `json:"objects"`
	// Accepted is the reason for which a list of known findings accepts it. If unset, it is not accepted.
	Accepted string `json:"accepted,omitempty"`
}

// Affected is an object that shows a finding.
type Affected struct {
	Ref

	// Detail says how: "web restarted 3 times", "409 Conflict: ...".
	Detail string `json:"detail"`
}

// Notice is something worth knowing.
type Notice struct {
	// Text says what it is, in one line.
	Text string `json:"text"`
	// Objects are those that the notice is about. If unset, there are none.
	Objects []Ref `json:"objects,omitempty"`
}

// Inert are objects that nothing acted on, with the reason: a webhook without its server, a custom resource without its
// operator.
type Inert struct {
	// Why says what is missing.
	Why string `json:"why"`
	// Objects are those that wait for it, in the order of the input.
	Objects []Ref `json:"objects"`
}

// IsWhole reports whether no object of the input was left out.
func (r Report) IsWhole() bool {
	return !slices.ContainsFunc(r.Problems, func(p manifest.Problem) bool { return !p.Harmless })
}

// Found returns the findings of the upgrade, or of the way back and what follows it. It reports whether these stages ran: if
// not, there is no answer.
func (r Report) Found(back bool) (found []Finding, ran bool) {
	for _, f := range r.Findings {
		if f.Stage.IsBack() == back {
			found = append(found, f)
		}
	}
	return found, slices.ContainsFunc(r.Stages, func(s StageResult) bool { return s.Name != Stored && s.Name.IsBack() == back })
}
