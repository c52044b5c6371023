package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// CRD defines custom resources that embed a pod template at spec.template, as the workloads of
// operators do, or changes their definition: all of it but the conversion is as the last step for
// that resource says. They have a namespace, and a status of which anything is kept.
type CRD struct {
	// Group is a domain, such as example.com.
	Group string `json:"group"`
	// Kind is what manifests say, such as Runner.
	Kind string `json:"kind"`
	// Plural is the resource. If unset, the kind in small letters with an s.
	Plural string `json:"plural,omitempty"`
	// Versions are all served. The first one is stored.
	Versions []CRDVersion `json:"versions"`
}

// CRDVersion is a version of a custom resource.
type CRDVersion struct {
	Name string `json:"name"`
	// Template is the release by whose types the schema of spec.template is generated, as
	// controller-gen does: "newest", "previous" or a minor version ("v1.36"). What these types
	// don't have is pruned. If unset, anything is kept (x-kubernetes-preserve-unknown-fields).
	Template release.Version `json:"template,omitempty"`
}

// Check implements spec.Action. What API servers refuse
// (k8s.io/apiextensions-apiserver, apiextensions/validation) is refused.
func (c CRD) Check(f spec.Field) {
	labels := strings.Split(c.Group, ".")
	f.Refuse(".group", len(labels) < 2 || len(validation.IsDNS1123Subdomain(c.Group)) > 0, "%s is no domain in small letters, like example.com", strict.Quote(c.Group))
	f.Refuse(".group", protected(c.Group), "%s is of Kubernetes itself", strict.Quote(c.Group))
	f.Refuse(".kind", len(validation.IsDNS1035Label(strings.ToLower(c.Kind))) > 0, "%s can't be a kind: use letters and digits, like Runner", strict.Quote(c.Kind))
	f.Refuse(".plural", len(validation.IsDNS1035Label(c.Plural)) > 0, "%s can't name a resource: use small letters, digits and -, like runners", strict.Quote(c.Plural))
	if kube.ByResource(c.resource()).Name != "" {
		f.Report("", "%s are of Kubernetes itself: give another plural", c.resource())
	}
	f.Refuse(".versions", len(c.Versions) == 0, "a resource without versions is never served")
	for i, v := range c.Versions {
		at := fmt.Sprintf(".versions[%d].name", i)
		f.Refuse(at, len(validation.IsDNS1035Label(v.Name)) > 0, "%s can't be a version: write it like v1 or v1beta1", strict.Quote(v.Name))
		f.Refuse(at, slices.ContainsFunc(c.Versions[:i], func(other CRDVersion) bool { return other.Name == v.Name }), "there is a version %s before", v.Name)
	}
}

// protected reports whether only Kubernetes may have resources in a group (KEP-1111).
func protected(group string) bool {
	return slices.ContainsFunc([]string{"k8s.io", "kubernetes.io"}, func(domain string) bool {
		return group == domain || strings.HasSuffix(group, "."+domain)
	})
}

func (c CRD) resource() string { return cmp.Or(c.Plural, strings.ToLower(c.Kind)+"s") }

// Name is that of the definition.
func (c CRD) Name() string { return c.resource() + "." + c.Group }

// Manifests implements spec.Creator. They have no schemas.
func (c CRD) Manifests() spec.Objects { return spec.Objects{c.Definition(nil)} }

func (c CRD) Asks() map[string]release.Version {
	asked := make(map[string]release.Version)
	for i, v := range c.Versions {
		asked[fmt.Sprintf(".versions[%d].template", i)] = v.Template
	}
	return asked
}

func (c CRD) Change(r *spec.Rig) {
	for field, v := range c.Asks() {
		if v != "" {
			r.Resolve(field, v)
		}
	}
	mustRun(r, "", r.Servers()[0].Name)
}

func (c CRD) Plan(s Scene) (Action, error) {
	c.Plural, c.Versions = c.resource(), slices.Clone(c.Versions)
	for i, v := range c.Versions {
		if v.Template == "" {
			continue
		}
		resolved, err := s.Rig.Meant(v.Template)
		if err != nil {
			return nil, err
		}
		c.Versions[i].Template = s.Rig.On(spec.TypedClient, resolved)
	}
	return c, nil
}

// Facts are those of a definition.
func (c CRD) Facts() Facts {
	f := Facts{Needs: NeedsDefinitions, Reach: ReachAll, Creates: c.Manifests()}
	for _, v := range c.Versions {
		if v.Template != "" {
			f.Starts = append(f.Starts, programs(spec.TypedClient, v.Template)...)
		}
	}
	return f
}

// Definition is the CustomResourceDefinition, with the schemas of pod templates by version.
// Where there is none, anything is kept.
func (c CRD) Definition(templates map[string]map[string]any) map[string]any {
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	var versions []any
	for i, v := range c.Versions {
		template := templates[v.Name]
		if template == nil {
			template = anything
		}
		versions = append(versions, map[string]any{
			"name": v.Name, "served": true, "storage": i == 0,
			"subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec":   map[string]any{"type": "object", "properties": map[string]any{"template": template}},
				"status": anything,
			}}},
		})
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": c.Name()},
		"spec": map[string]any{
			"group": c.Group, "scope": "Namespaced", "names": map[string]any{"kind": c.Kind, "plural": c.resource()}, "versions": versions,
		},
	}
}

func (c CRD) Describe() string {
	var versions []string
	for _, v := range c.Versions {
		text := v.Name + " with any template"
		if v.Template != "" {
			text = v.Name + " with the template of " + string(v.Template)
		}
		versions = append(versions, text)
	}
	return OneLine(fmt.Sprintf("define %s %s: %s", c.Kind, c.Name(), strings.Join(versions, ", ")))
}

func (c CRD) Run(ctx context.Context, rig Rig) error { return rig.Define(ctx, c) }
