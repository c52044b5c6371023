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

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/object"
)

// Alone is what a scenario has of a plan: gates that are on first, and as they are after the change. If To is as
// On, the scenario is the control, in which nothing changes.
type Alone struct {
	Version release.Version
	Turn    Turn
	On, To  release.Gates
	Killed  string
}

// IsControl reports whether nothing changes but that components are restarted.
func (a Alone) IsControl() bool { return a.Turn.To == "" && maps.Equal(a.On, a.To) }

// Control is the same with nothing that changes.
func (a Alone) Control() Alone {
	a.Turn.To, a.To = "", a.On
	return a
}

// Scenario is a scenario that shows a finding with one item.
func Scenario(a Alone, f Finding, of Found) (id string, text []byte, _ error) {
	i := of.Item
	i.Object = renamed(i.Object, i.Name, object.Name)
	i.Name = object.Name
	id = strings.ToLower(fmt.Sprintf("sweep/%s/%s-%s-%s", strings.Join(of.gatesOff(), "-"), i.Kind, i.Touches.Name(), f.short()))
	setting := a.Turn.String()
	if a.IsControl() {
		id, setting = id+"-control", "nothing is changed"
	}
	var b strings.Builder
	err := scenario.Execute(&b, map[string]any{
		"id": id, "title": fmt.Sprintf("%s, %s (%s)", i.Use, i.Touches, setting),
		"alone": a, "item": i, "there": a.steps(a.Turn.At, a.Turn.To, a.To), "back": a.back(f.What), "panics": a.logged(f.What), "checks": i.checks(f.What, a),
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

// logged is the component whose log says whether it panicked, or empty: an API server goes on afterwards.
func (a Alone) logged(what string) string {
	if program, how := ending(what); program == record.APIServer && how == panics {
		return a.Turn.running(program)
	}
	return ""
}

// restart is a step of a scenario.
type restart struct {
	Component string          `json:"component"`
	Version   release.Version `json:"version,omitempty"`
	Gates     release.Gates   `json:"gates,omitempty"`
	Unset     []string        `json:"unset,omitempty"`
}

// steps restart components as a release, or with gates.
func (a Alone) steps(at []string, to release.Version, gates release.Gates) (all []restart) {
	for _, component := range at {
		if to == "" {
			all = append(all, restart{Component: component, Gates: gates})
			continue
		}
		all = append(all, restart{Component: component, Version: to, Unset: a.On.Names()})
	}
	return all
}

// back are the steps that undo the change, if what is found is about that.
func (a Alone) back(what string) (all []restart) {
	if l, _ := law.Named(what); !l.Undone {
		return nil
	}
	for _, component := range slices.Backward(a.Turn.At) {
		r := restart{Component: component, Gates: a.On}
		if a.Turn.To != "" {
			r.Version = a.Version
		}
		all = append(all, r)
	}
	return all
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
    scheduler: false
    gates: {{json .alone.On}}
    flags: {kube-apiserver: {runtime-config: api/all=true}}
{{- if .alone.Turn.HasTwoServers}}
    servers: [{name: a}, {name: b}]
    controllerManagers: [{name: a, via: b}]
{{- end}}
{{- if .alone.Turn.HasNode}}
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

// Steps are the steps of a scenario that touch an item.
func (i Item) Steps() (steps []string, _ error) {
	for _, t := range i.Touches {
		text, err := i.step(t)
		if err != nil {
			return nil, err
		}
		if text != "" {
			steps = append(steps, text)
		}
	}
	return steps, nil
}

func (i Item) step(t Touch) (text string, err error) {
	at := i.Resource + "/" + i.Name
	switch t {
	case Nothing:
		return "", nil
	case Create, Bare:
		o := i.Object
		if t == Bare {
			o = i.WithoutFields()
		}
		text, err = asYAML(o)
		return "- apply:\n" + text, err
	case Delete:
		return "- delete: " + at, nil
	case Apply:
		text, err = asJSON(i.Applied())
		return "- serverSideApply: {manager: sweep, object: " + text + "}\n  accepted: true", err
	case Put, OldClient:
		text, err = i.merged(t)
		return "- put: {object: " + at + ", merge: " + text + "}\n  accepted: true", err
	default:
		text, err = asJSON(i.Patch(t))
		return "- patch: {object: " + at + ", merge: " + text + "}\n  accepted: true", err
	}
}

// merged is what a client changes that writes back an object, as a JSON merge patch.
func (i Item) merged(t Touch) (string, error) {
	before, err := json.Marshal(i.Object)
	if err != nil {
		return "", err
	}
	after, err := json.Marshal(i.Written(t, i.Object))
	if err != nil {
		return "", err
	}
	patch, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return "", err
	}
	return asJSON(json.RawMessage(patch))
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
