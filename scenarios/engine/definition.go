package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/typedclient"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Define implements action.Rig.
func (r *run) Define(ctx context.Context, c action.CRD) error {
	templates := make(map[string]map[string]any)
	for _, v := range c.Versions {
		if v.Template == "" {
			continue
		}
		client, err := r.binary(ctx, build.Target{Component: build.TypedClient, Version: v.Template})
		if err != nil {
			return err
		}
		if templates[v.Name], err = typedclient.PodTemplate(ctx, client.Path); err != nil {
			return err
		}
	}
	definition := c.Definition(templates)
	mark := r.mark(definition)
	o, err := r.first("")
	if err != nil {
		return err
	}
	answer, err := o.write(ctx, action.Write{Verb: action.Applies, Force: true, Body: definition})
	if _, err := r.answered(answer, false, err); err != nil {
		return err
	}
	if err := o.served(ctx, definition); err != nil {
		return unmet(r, err)
	}
	if err := r.awaitDefinition(ctx, definition, mark); err != nil {
		return err
	}
	return r.observe(ctx)
}

// markColumn is what tables of a custom resource have beside its names, so that it is known which
// definition an API server has.
const markColumn = "mark"

// mark has tables of a custom resource show that they are by this definition. Its schemas and
// conversion come into force with them (k8s.io/apiextensions-apiserver, pkg/apiserver:
// getOrCreateServingInfoFor).
func (r *run) mark(definition map[string]any) (mark string) {
	r.admission.marks++
	mark = strconv.Itoa(r.admission.marks)
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		columns, _ := version["additionalPrinterColumns"].([]any)
		columns = slices.DeleteFunc(slices.Clone(columns), func(c any) bool {
			column, _ := c.(map[string]any)
			return column["name"] == markColumn
		})
		version["additionalPrinterColumns"] = append(columns, map[string]any{"name": markColumn, "type": "string", "jsonPath": ".metadata.name", "description": mark})
	}
	return mark
}

// runningServers returns the API servers that run.
func (r *run) runningServers() ([]string, error) {
	definer, err := provider.As[provider.Definer](r.session)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(r.cell.Topology.Servers()), func(name string) bool { return !definer.Running(name) }), nil
}

// observe begins to record the objects of resources that an API server serves only now.
func (r *run) observe(ctx context.Context) error {
	definer, err := provider.As[provider.Definer](r.session)
	if err != nil {
		return err
	}
	return definer.Observe(ctx)
}

// awaitDefinition returns when each API server that runs has a definition.
func (r *run) awaitDefinition(ctx context.Context, definition map[string]any, mark string) error {
	path, err := tablePath(definition)
	if err != nil {
		return err
	}
	servers, err := r.runningServers()
	if err != nil {
		return err
	}
	for _, name := range servers {
		endpoint, err := r.session.Endpoint(name)
		if err != nil {
			return err
		}
		limited, cancel := r.machine.WithTimeout(ctx, servedLimit, fmt.Errorf("%s does not serve %s as it is defined", name, path))
		defer cancel()
		for !isMarked(limited, endpoint, path, mark) {
			if err := r.Wait(limited, "", betweenAsks); err != nil {
				return unmet(r, err)
			}
		}
	}
	return nil
}

// tablePath is where a table of a custom resource is that has no rows.
func tablePath(definition map[string]any) (string, error) {
	var crd struct {
		Spec struct {
			Group string `json:"group"`
			Scope string `json:"scope"`
			Names struct {
				Plural string `json:"plural"`
			} `json:"names"`
			Versions []struct {
				Name   string `json:"name"`
				Served bool   `json:"served"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(definition, &crd); err != nil {
		return "", err
	}
	parts := []string{"/apis", crd.Spec.Group}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			parts = append(parts, v.Name)
			break
		}
	}
	if crd.Spec.Scope == "Namespaced" { // then nothing else is read, which a webhook might have to convert
		parts = append(parts, "namespaces", metav1.NamespaceDefault)
	}
	return path.Join(append(parts, crd.Spec.Names.Plural)...) + "?fieldSelector=metadata.name%3D" + markColumn, nil
}

// isMarked reports whether the table at a path shows a mark.
func isMarked(ctx context.Context, endpoint *rest.Config, path, mark string) bool {
	body, _, err := getFrom(ctx, endpoint, path, "application/json;as=Table;v=v1;g=meta.k8s.io")
	var table metav1.Table
	if err != nil || json.Unmarshal(body, &table) != nil {
		return false
	}
	return slices.ContainsFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Name == markColumn && c.Description == mark })
}
