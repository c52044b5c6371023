package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestFieldsThatObjectsDoNotHave: an API server leaves a field out that it does not know,
// and what the scenario shows then is another thing than it says.
func TestFieldsThatObjectsDoNotHave(t *testing.T) {
	t.Parallel()
	const (
		head = "apiVersion: skewrig.dev/v1alpha1\nkind: Scenario\nid: mine/fields/all\ntitle: Fields\ntopology: {nodes: [{name: node-a}]}\nsteps:\n"
		pod  = "apiVersion: v1, kind: Pod, metadata: {name: web, labels: {any: thing}}"
	)
	newest := release.Newest.MajorMinor()
	unknown := func(at, name, guess string) string {
		return fmt.Sprintf("%s: the API of %s has no field %q here: %s To send it all the same, give the step unknownFields: [%s]", at, newest, name, guess, name)
	}
	for name, tc := range map[string]struct {
		steps string
		want  []string
	}{
		"in a pod": {
			"- apply: {" + pod + ", spec: {containres: []}}\n",
			[]string{unknown("s.yaml:7:90", "containres", "did you mean containers?")},
		},
		"in one of a list, within a list": {
			"- apply:\n  - {" + pod + ", spec: {containers: [{name: app, readinesProbe: {}, livenessProbe: {httpGet: {port: 80, paht: /}}}]}}\n",
			[]string{unknown("s.yaml:8:110", "readinesProbe", "did you mean readinessProbe?"), unknown("s.yaml:8:165", "paht", "did you mean path?")},
		},
		"in a template": {
			"- apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replica: 1, template: {spec: {nodename: a}}}}\n",
			[]string{unknown("s.yaml:7:80", "replica", "did you mean replicas?"), unknown("s.yaml:7:110", "nodename", "did you mean nodeName?")},
		},
		"in metadata": {
			"- apply: {apiVersion: v1, kind: Node, metadata: {name: a, lables: {}}}\n",
			[]string{unknown("s.yaml:7:59", "lables", "did you mean labels?")},
		},
		"in a file": {"- file: web.yaml\n", []string{unknown("web.yaml:4:8", "serviceAcountName", "did you mean serviceAccountName?")}},
		"in a static pod": {
			"- staticPod: {node: node-a, pod: {" + pod + ", spec: {hostnetwork: true}}}\n",
			[]string{unknown("s.yaml:7:114", "hostnetwork", "did you mean hostNetwork?")},
		},
		"in a patch": {
			"- patch: {object: deployments/web, merge: {spec: {template: {spec: {contaners: []}}}}}\n",
			[]string{unknown("s.yaml:7:69", "contaners", "did you mean containers?")},
		},
		"of no near name": {
			"- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, contents: {a: b}}\n",
			[]string{unknown("s.yaml:7:65", "contents", "known are kind, apiVersion, metadata, immutable, data, binaryData.")},
		},
		"on purpose": {steps: "- {unknownFields: [tls], apply: {" + pod + ", spec: {containers: [{name: a, livenessProbe: {grpc: {port: 1, tls: {}}}}]}}}\n"},
		"on purpose, beside one by mistake": {
			"- unknownFields: [tls]\n  apply: {" + pod + ", spec: {tls: {}, nodNmae: a}}\n",
			[]string{unknown("s.yaml:8:99", "nodNmae", "did you mean nodeName?")},
		},
		"on purpose, but not there": {
			"- {unknownFields: [tls], apply: {" + pod + "}}\n",
			[]string{"s.yaml:7:20: the step has no field \"tls\" that the API of " + newest + " does not know: leave it out of unknownFields"},
		},
		"of an alpha":        {steps: "- apply: {" + pod + ", spec: {containers: [{name: a, livenessProbe: {grpc: {port: 1, mode: TLS}}}]}}\n"},
		"of any form":        {steps: "- apply: {" + pod + ", spec: {containers: [{name: a, livenessProbe: {httpGet: {port: http}}, resources: {limits: {cpu: 1}}}]}}\n"},
		"in another version": {steps: "- patch: {object: horizontalpodautoscalers/web, merge: {spec: {targetCPUUtilizationPercentage: 5}}}\n"},
		"of a custom kind":   {steps: "- apply: {apiVersion: example.org/v1, kind: Pod, metadata: {name: a}, spec: {any: thing}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cells := planned(t, action.Options{}, fstest.MapFS{
				"s.yaml":   {Data: []byte(head + tc.steps)},
				"web.yaml": {Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {serviceAcountName: a}\n")},
			})
			got := ""
			if err := UnknownFields(append(cells, cells...)); err != nil {
				got = err.Error()
			}
			if want := strings.Join(tc.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestFieldsOfASource: objects of cells on a checkout, or a newer release, may have the fields that it has, and no
// others. If the checkout is not there, or the release was not asked, they may have any.
func TestFieldsOfASource(t *testing.T) {
	t.Parallel()
	const (
		read, gone  = release.Version("v1.90.0+read"), release.Version("v1.90.0+gone")
		beta, later = release.Version("v1.91.0-beta.0"), release.Version("v1.92.0")
		scenario    = "apiVersion: skewrig.dev/v1alpha1\nkind: Scenario\nid: mine/fields/all\ntitle: Fields\ntopology: {nodes: [{name: node-a}]}\nsteps:\n" +
			"- unknownFields: [h3]\n  apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, livenessProbe: {h3: {}, h4: {}}}]}}\n"
	)
	for _, v := range []release.Version{read, beta} {
		release.LearnFields(v, map[string]bool{"k8s.io/api/core/v1.ProbeHandler.h3": true})
	}
	for v, want := range map[release.Version]string{
		read:  `s.yaml:8:115: the API of v1.90.0+read has no field "h4" here`,
		gone:  "",
		beta:  `s.yaml:8:115: the API of v1.91.0-beta.0 has no field "h4" here`,
		later: "",
	} {
		sources := release.Sources{{Instead: release.Newest, Version: v}}
		cells := planned(t, action.Options{Releases: release.Releases{Sources: sources}}, fstest.MapFS{"s.yaml": {Data: []byte(scenario)}})
		got := ""
		if err := UnknownFields(cells); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" || strings.Contains(got, "\n") {
			t.Errorf("%s: got %q, want %q", v, got, want)
		}
	}
}

// planned are the cells of s.yaml.
func planned(t *testing.T, options action.Options, files fstest.MapFS) []plan.Cell {
	t.Helper()
	scenarios, err := action.LoadWith(options, files, []string{"s.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}
