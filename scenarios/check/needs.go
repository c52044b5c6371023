package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// builtIn are the resources of Kubernetes that can be watched. A release that does not
// serve one has no objects of it.
var builtIn = strings.Fields(`
	apiservices certificatesigningrequests clusterrolebindings clusterroles clustertrustbundles configmaps
	controllerrevisions cronjobs csidrivers csinodes csistoragecapacities customresourcedefinitions daemonsets deployments
	deviceclasses devicetaintrules endpoints endpointslices flowschemas horizontalpodautoscalers ingressclasses ingresses
	ipaddresses jobs leasecandidates leases limitranges mutatingadmissionpolicies mutatingadmissionpolicybindings
	mutatingwebhookconfigurations namespaces networkpolicies nodes persistentvolumeclaims persistentvolumes
	podcertificaterequests poddisruptionbudgets podgroups pods podtemplates priorityclasses prioritylevelconfigurations
	replicasets replicationcontrollers resourceclaims resourceclaimtemplates resourcepoolstatusrequests resourcequotas
	resourceslices rolebindings roles runtimeclasses secrets serviceaccounts servicecidrs services statefulsets
	storageclasses storageversionmigrations validatingadmissionpolicies validatingadmissionpolicybindings
	validatingwebhookconfigurations volumeattachments volumeattributesclasses workloads`)

// ofSeed begins the names of what is on the seed.
const ofSeed = "seed/"

// ofGarden are those that a seed has beside them.
var ofGarden = []string{"clusters", "machines"}

// Needs returns the topology of a cell with what its expressions need: the resources that
// they name are observed, and components may end by themselves if they ask whether they
// run, or how they ended. A resource that is not known is an error with its place.
func Needs(cell plan.Cell) (record.Topology, error) {
	t := cell.Topology
	t.Observed, t.MayEnd = nil, nil
	n := needs{cell: cell, known: recordable(cell), topology: &t}
	for _, step := range cell.Steps {
		if wait, is := step.Action.(action.Wait); is {
			n.read(wait.Until, func() string { return place(cell, step.Line, "until") + ": wait until" })
		}
		for _, c := range step.Checks() {
			n.read(c.Observe, func() string { return place(cell, c.Line, "observe") + ": check " + c.ID })
			n.read(c.Must, func() string { return place(cell, c.Line, "must") + ": check " + c.ID })
		}
	}
	slices.Sort(t.Observed)
	slices.Sort(t.MayEnd)
	return t, errors.Join(n.unknown...)
}

// needs are what the expressions of a cell need.
type needs struct {
	cell     plan.Cell
	known    []string
	topology *record.Topology
	unknown  []error
}

// read takes an expression into account. Where says where it stands, for mistakes.
func (n *needs) read(text string, where func() string) {
	e, is := parse(text)
	if !is {
		return
	}
	var constants []string
	objects, ends := false, false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.LiteralKind:
			if text, is := e.AsLiteral().Value().(string); is {
				constants = append(constants, text)
			}
		case ast.IdentKind:
			objects = objects || e.AsIdent() == "objects" || e.AsIdent() == "history"
		case ast.SelectKind:
			name := e.AsSelect().FieldName()
			ends = ends || (name == "running" || name == "exits") && indexes(e.AsSelect().Operand(), "components")
		case ast.CallKind:
			if key, is := keyOf(e); is {
				n.refuse(key, where)
			}
		}
	}))
	if objects {
		n.observe(constants)
	}
	if ends {
		n.mayEnd(constants)
	}
}

// keyOf is the key of an object that an expression asks for, as it is written.
func keyOf(e ast.Expr) (key string, is bool) {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.Index:
	case operators.In:
		args = []ast.Expr{args[1], args[0]}
	default:
		return "", false
	}
	in := args[0]
	if in.Kind() != ast.IdentKind || in.AsIdent() != "objects" && in.AsIdent() != "history" || args[1].Kind() != ast.LiteralKind {
		return "", false
	}
	key, is = args[1].AsLiteral().Value().(string)
	return key, is
}

// refuse reports a key of a resource that is not known.
func (n *needs) refuse(key string, where func() string) {
	resource := resourceOf(key)
	if slices.Contains(n.known, resource) {
		return
	}
	hint := "; a CustomResourceDefinition of the scenario makes one known"
	if near := spelling.Closest(resource, n.known); len(near) > 0 {
		hint = ": did you mean " + near[0] + "?"
	}
	if resource == "events" {
		hint = ": events[\"pod\"] has those about a pod"
	}
	n.unknown = append(n.unknown, fmt.Errorf("%s: %q is of no resource whose objects are recorded%s", where(), key, hint))
}

// observe has the resources observed that constants name, as the beginning of a key or as
// a kind.
func (n *needs) observe(constants []string) {
	for _, text := range constants {
		resource := resourceOf(text)
		if kind, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: text}); strings.ToLower(text) != text {
			resource = kind.Resource
		}
		if slices.Contains(n.known, resource) && !slices.Contains(n.topology.Observed, resource) && !slices.Contains(record.Observed, resource) {
			n.topology.Observed = append(n.topology.Observed, resource)
		}
	}
}

// mayEnd has the components end that constants name, or all.
func (n *needs) mayEnd(constants []string) {
	var all, named []string
	for _, t := range n.cell.Components() {
		all = append(all, t)
		if slices.Contains(constants, t) {
			named = append(named, t)
		}
	}
	if len(named) == 0 {
		named = all
	}
	for _, name := range named {
		if !slices.Contains(n.topology.MayEnd, name) {
			n.topology.MayEnd = append(n.topology.MayEnd, name)
		}
	}
}

// resourceOf is the resource of an object's key, with that of the seed.
func resourceOf(key string) string {
	rest, is := strings.CutPrefix(key, ofSeed)
	resource, _, _ := strings.Cut(rest, "/")
	if is {
		return ofSeed + resource
	}
	return resource
}

// recordable are the resources that a cell may have objects of: those of Kubernetes, and those
// that its steps define.
func recordable(cell plan.Cell) []string {
	all := slices.Clone(builtIn)
	for _, step := range cell.Steps {
		apply, _ := step.Action.(action.Apply)
		for _, o := range apply.Objects {
			if plural, _, _ := unstructured.NestedString(o, "spec", "names", "plural"); o["kind"] == "CustomResourceDefinition" && plural != "" {
				all = append(all, plural)
			}
		}
	}
	if cell.Topology.Garden != nil {
		for _, resource := range slices.Concat(builtIn, ofGarden) {
			all = append(all, ofSeed+resource)
		}
	}
	return all
}
