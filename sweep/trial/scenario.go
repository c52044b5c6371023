package trial

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/object"
)

// Scenario is a scenario that shows a finding with one item, on a release whose gates are as in on first.
// The API server is restarted with them as in to: if they are the same, it is the control.
func Scenario(v release.Version, f Finding, of Found, on, to release.Gates) (id string, text []byte, _ error) {
	i := of.Item
	i.Object = renamed(i.Object, i.Name, object.Name)
	i.Name = object.Name
	id = strings.ToLower(fmt.Sprintf("sweep/%s/%s-%s", strings.Join(of.Gates, "-"), i.Kind, string(i.Touch)))
	setting := "off"
	if maps.Equal(on, to) {
		id, setting = id+"-control", "on"
	}
	var b strings.Builder
	err := scenario.Execute(&b, map[string]any{
		"id":      id,
		"title":   fmt.Sprintf("%s with %s, %s while %s is %s", i.Kind, i.Field, i.Touch, strings.Join(of.Gates, " and "), setting),
		"version": v, "on": on, "to": to, "setting": setting, "item": i, "checks": i.checks(f.What, setting == "on"),
	})
	return id, []byte(b.String()), err
}

// scenario is the text of a scenario. What is written as JSON is YAML too.
var scenario = template.Must(template.New("scenario").Funcs(template.FuncMap{"json": asJSON, "object": asYAML}).Parse(
	`apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: {{.id}}
title: {{.title}}
topology:
  controlPlane: {version: {{.version}}, scheduler: false, gates: {{json .on}}}
steps:
{{- if ne .item.Touch "create"}}
- name: create
  apply:
{{object .item.Object}}
- wait: {for: 3s}
{{- end}}
- name: gates {{.setting}}
  restart: {component: kube-apiserver, gates: {{json .to}}}
{{- with .item}}
{{- if eq .Touch "create"}}
- apply:
{{object .Object}}
{{- else if eq .Touch "delete"}}
- delete: {{.Resource}}/{{.Name}}
{{- else if eq .Touch "apply"}}
- serverSideApply: {manager: sweep, object: {{json .Applied}}}
  accepted: true
{{- else if ne .Touch "nothing"}}
- patch: {object: {{.Resource}}/{{.Name}}, merge: {{json .Patch}}}
  accepted: true
{{- end}}{{end}}
- checks:
{{- range .checks}}
  - {{json .}}
{{- end}}
`))

// asJSON is JSON on one line, with names of letters without quotes: YAML.
func asJSON(v any) (string, error) {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	err := out.Encode(v)
	text := strings.NewReplacer(`":`, `": `, `,"`, `, "`, `},{`, `}, {`).Replace(strings.TrimSpace(b.String()))
	return letters.ReplaceAllString(text, "$1: "), err
}

var letters = regexp.MustCompile(`"([a-zA-Z]+)": `)

// asYAML is an object below a step, with what says which one it is first.
func asYAML(object map[string]any) (string, error) {
	first := []string{"apiVersion", "kind", "metadata"}
	place := func(name string) int { return (slices.Index(first, name) + len(first) + 1) % (len(first) + 1) }
	names := slices.Collect(maps.Keys(object))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	var lines []string
	for _, name := range names {
		text, err := yaml.Marshal(map[string]any{name: object[name]})
		if err != nil {
			return "", err
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	return "    " + strings.Join(lines, "\n    "), nil
}

// makes are what a kind makes one of for each of its templates.
var makes = map[string]string{"Deployment": "replicasets", "StatefulSet": "controllerrevisions", "DaemonSet": "controllerrevisions"}

// check is a check of a scenario.
type check struct {
	ID         string            `json:"id"`
	Observe    string            `json:"observe"`
	Is         any               `json:"is,omitempty"` // nil is none
	AtMost     map[string]any    `json:"atMost,omitempty"`
	Eventually string            `json:"eventually,omitempty"`
	Always     map[string]string `json:"always,omitempty"`
}

// checks hold if what a finding says is not so. With the gates on, a new object has the field.
func (i Item) checks(what string, on bool) []check {
	key := i.Key("default")
	children, is := makes[i.Kind]
	switch {
	case what == Endless && is:
		made := fmt.Sprintf("history.filter(name, name.startsWith('%s/default/%s-')).size()", children, i.Name)
		return []check{{ID: "ends", Observe: made, AtMost: map[string]any{"times": 10, "for": "15s"}}}
	case what == Lost:
		return []check{{ID: "kept", Observe: hasField(fmt.Sprintf("objects['%s']", key), strings.Split(i.Path, ".")), Is: true, Always: map[string]string{"for": "5s"}}}
	case what == Stored:
		has := hasField(fmt.Sprintf("objects['%s']", key), strings.Split(i.Path, "."))
		return []check{{ID: "stored", Observe: fmt.Sprintf("'%s' in objects && (%s)", key, has), Is: on, Always: map[string]string{"for": "5s"}}}
	case what == Stays:
		return []check{{ID: "gone", Observe: fmt.Sprintf("!('%s' in objects)", key), Is: true, Eventually: "30s"}}
	default: // the oracles tell, or whether the touch is accepted
		return []check{{ID: "stays", Observe: fmt.Sprintf("'%s' in objects", key), Is: true, Always: map[string]string{"for": "15s"}}}
	}
}

// hasField is an expression for whether something has a field at a path.
func hasField(in string, path []string) string {
	name := strings.TrimRight(path[0], "[]{}")
	has := fmt.Sprintf("has(%s.%s)", in, name)
	if len(path) == 1 {
		return has
	}
	below := in + "." + name
	item := "x" + strings.Repeat("x", strings.Count(in, "x"))
	switch {
	case strings.HasSuffix(path[0], "[]"):
		return fmt.Sprintf("%s && %s.exists(%s, %s)", has, below, item, hasField(item, path[1:]))
	case strings.HasSuffix(path[0], "{}"):
		return fmt.Sprintf("%s && %s.exists(%s, %s)", has, below, item, hasField(below+"["+item+"]", path[1:]))
	default:
		return has + " && " + hasField(below, path[1:])
	}
}
