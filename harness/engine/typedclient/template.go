package main

import (
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// template asks for the OpenAPI schemas of the pod template of this release, and of all types
// that it has.
type template struct{}

// templateType is how the name of its type ends: models have other names in older releases.
const templateType = "v1.PodTemplateSpec"

func (template) do() ([]byte, error) {
	all := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(name) })
	for name := range all {
		if strings.HasSuffix(name, templateType) {
			found := schemas{Template: name, Schemas: make(map[string]spec.Schema)}
			found.add(all, name)
			return json.Marshal(found)
		}
	}
	return nil, errors.New("there is no pod template")
}

// schemas are what template answers.
type schemas struct {
	// Template is the name of the pod template's, and Schemas are all by their names, which
	// they refer to.
	Template string                 `json:"template"`
	Schemas  map[string]spec.Schema `json:"schemas"`
}

func (s schemas) add(all map[string]common.OpenAPIDefinition, name string) {
	if _, has := s.Schemas[name]; has {
		return
	}
	s.Schemas[name] = all[name].Schema
	for _, other := range all[name].Dependencies {
		s.add(all, other)
	}
}
