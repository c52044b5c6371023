package typedclient

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// PodTemplate has the client at a path tell the schema of a pod template by its types, as
// controller-gen writes it into a CustomResourceDefinition that embeds one
// (sigs.k8s.io/controller-tools, with generateEmbeddedObjectMeta). It has no descriptions.
func PodTemplate(ctx context.Context, client string) (map[string]any, error) {
	a, err := ask(ctx, client, map[string]any{"template": struct{}{}})
	if err != nil {
		return nil, err
	}
	var known struct {
		Template string
		Schemas  schemas
	}
	if err := json.Unmarshal(a.Object, &known); err != nil {
		return nil, err
	}
	text, err := json.Marshal(known.Schemas.structural(&schema{Ref: known.Template}))
	if err != nil {
		return nil, err
	}
	var template map[string]any
	return template, json.Unmarshal(text, &template)
}

// schema is the part of an OpenAPI schema that a CustomResourceDefinition can have
// (k8s.io/apiextensions-apiserver, apiextensions/v1: JSONSchemaProps), and a reference to
// another one, which it can't.
type schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Type                 string             `json:"type,omitempty"`
	Format               string             `json:"format,omitempty"`
	Default              any                `json:"default,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	AdditionalProperties *schema            `json:"additionalProperties,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Required             []string           `json:"required,omitempty"`
	ListType             string             `json:"x-kubernetes-list-type,omitempty"`
	ListMapKeys          []string           `json:"x-kubernetes-list-map-keys,omitempty"`
	MapType              string             `json:"x-kubernetes-map-type,omitempty"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string,omitempty"`
}

// schemas are those of types, by name.
type schemas map[string]*schema

// structural is a schema with all that it refers to.
func (all schemas) structural(of *schema) *schema {
	if of == nil {
		return nil
	}
	s := *of
	if s.Ref != "" {
		s = all.named(s.Ref)
	}
	s.Items, s.AdditionalProperties = all.structural(s.Items), all.structural(s.AdditionalProperties)
	properties := maps.Clone(s.Properties)
	for name, property := range properties {
		p := all.structural(property)
		if p.Default = property.Default; slices.Contains(s.Required, name) || p.Type == "object" || p.IntOrString {
			p.Default = nil // it is what a Go value has that nothing is assigned to
		}
		properties[name] = p
	}
	s.Properties = properties
	return &s
}

// named is the schema of a type.
func (all schemas) named(name string) schema {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "IntOrString", "Quantity":
		return schema{IntOrString: true}
	case "ObjectMeta":
		meta := *all[name]
		meta.Properties = maps.Clone(meta.Properties)
		maps.DeleteFunc(meta.Properties, func(field string, _ *schema) bool { return !slices.Contains(embedded, field) })
		return meta
	default:
		return *all[name]
	}
}

// embedded are the fields of the metadata of an object that is embedded.
var embedded = []string{"annotations", "finalizers", "labels", "name", "namespace"}
