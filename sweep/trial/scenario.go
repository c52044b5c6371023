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

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/object"
)

// Scenario is a scenario that shows a finding with one item.
func Scenario(a Setting, f Finding, of Found) (id string, text []byte, _ error) {
	i := of.Item
	i.Object = renamed(i.Object, i.Name, object.Name)
	i.Name = object.Name
	id = strings.ToLower(fmt.Sprintf("sweep/%s/%s-%s-%s", strings.Join(of.gatesOff(), "-"), i.Kind, i.Mutations.Name(), f.short()))
	setting := a.Transition.String()
	if a.IsControl() {
		id, setting = id+"-control", "nothing is changed"
	}
	var back []Restart
	if l, _ := law.Named(f.What); l.Undone {
		back = a.Reverts()
	}
	var b strings.Builder
	err := scenario.Execute(&b, map[string]any{
		"id": id, "title": fmt.Sprintf("%s, %s (%s)", i.Use, i.Mutations, setting),
		"alone": a, "item": i, "there": a.Changes(), "back": back, "panics": a.logged(f.What), "checks": i.checks(f.What, a),
	})
	return id, []byte(b.String()), err
}

// gatesOff are those that are named for what shows a finding.
func (f Found) gatesOff() []string {
	switch {
	case !f.IsControl():
		return f.AllGates()
	case len(f.Off) > 0 && len(f.Off) <= 3:
		return f.Off
	default:
		return []string{"gates"}
	}
}

// logged is the component whose log says whether it panicked, or empty: an API server continues afterwards.
func (s Setting) logged(what string) string {
	if program, how := ending(what); program == record.APIServer && how == panics {
		return s.Transition.running(program)
	}
	return ""
}

// scenario is the text of a scenario. What is written as JSON is YAML too.
var scenario = template.Must(template.New("scenario").Funcs(template.FuncMap{"json": asJSON, "object": asYAML}).Parse(
	`apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: {{.id}}
title: {{.title}}
topology:
  controlPlane:
    version: {{.alone.Version}}
    scheduler: {{.alone.Transition.HasScheduler}}
    gates: {{json .alone.On}}
    flags: {kube-apiserver: {runtime-config: api/all=true}}
{{- if .alone.Transition.HasTwoServers}}
    servers: [{name: a}, {name: b}]
    controllerManagers: [{name: a, via: b}]
{{- end}}
{{- if .alone.Transition.HasNode}}
  nodes: [{name: node-a, version: {{.alone.Version}}, gates: {{json .alone.On}}}]
{{- end}}
steps:
{{- if not .item.Late}}
- name: create
  apply:
{{object .item.Object}}
- wait: {for: 3s}
{{- end}}
{{- range $n, $r := .there}}
{{- if $n}}
- wait: {for: 5s}
{{- end}}
- restart: {{json $r}}
{{- end}}
{{- range .item.Steps}}
{{.}}
{{- end}}
{{- with .alone.Killed}}
- kill: {{.}}
- start: {component: {{.}}}
{{- end}}
{{- range .back}}
- restart: {{json .}}
{{- end}}
{{- with .panics}}
- wait: {for: 10s}
- name: panics
  log: {component: {{.}}, match: "^panic: |Observed a panic|http: panic serving"}
{{- end}}
- checks:
{{- range .checks}}
  - {{json .}}
{{- end}}
`))

// Steps are the steps of a scenario that mutate an item.
func (i Item) Steps() (steps []string, _ error) {
	for _, r := range i.Requests() {
		text, err := i.step(r)
		if err != nil {
			return nil, err
		}
		steps = append(steps, text)
	}
	return steps, nil
}

func (i Item) step(r law.Request) (text string, err error) {
	at := i.Resource + "/" + i.Name
	switch r.Verb {
	case law.Creates:
		text, err = asYAML(r.Body)
		return "- apply:\n" + text, err
	case law.Deletes:
		return "- delete: " + at, nil
	case law.Applies:
		text, err = asJSON(r.Body)
		return "- serverSideApply: {manager: " + Manager + ", object: " + text + "}\n  accepted: true", err
	case law.Puts:
		patch, err := r.Merge(i.Object)
		if err != nil {
			return "", err
		}
		text, err = asJSON(patch)
		return "- put: {object: " + at + ", merge: " + text + "}\n  accepted: true", err
	default:
		text, err = asJSON(r.Body)
		return "- patch: {object: " + at + ", merge: " + text + "}\n  accepted: true", err
	}
}

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
