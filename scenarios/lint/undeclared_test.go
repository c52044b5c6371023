package lint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// playground is a cell with something of each kind, and an expression in its fourth step.
func playground(observe, must string) plan.Cell {
	object := func(kind, namespace, name string, spec map[string]any) map[string]any {
		return map[string]any{"kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}, "spec": spec}
	}
	containers := func(names ...string) map[string]any {
		var all []any
		for _, name := range names {
			all = append(all, map[string]any{"name": name})
		}
		return map[string]any{"containers": all}
	}
	template := func(inner map[string]any) map[string]any {
		return map[string]any{"template": map[string]any{"spec": inner}}
	}
	generated := object("Pod", "shop", "", containers("app"))
	generated["metadata"] = map[string]any{"generateName": "batch", "namespace": "shop"}
	return plan.Cell{
		File: "c.yaml", Text: "- id: c\n  observe: A\n  must: B\n",
		Topology: record.Topology{
			Nodes:      []record.Node{{Name: "node-a"}},
			LeaseNodes: &record.LeaseNodes{Zones: []record.Zone{{Name: "a", Count: 2}, {Name: "b", Count: 1}}},
			Garden:     &record.Garden{Dependents: []record.Dependent{{Name: "kube-controller-manager"}}},
		},
		Steps: []plan.Step{
			{Number: 1, Name: "create", Action: action.Apply{Objects: []map[string]any{
				object("Pod", "", "payments", containers("app", "log")),
				object("ConfigMap", "", "settings", nil),
				object("PriorityClass", "", "urgent", nil),
				object("Deployment", "", "web", template(containers("app"))),
				object("StatefulSet", "shop", "db", template(containers("app"))),
				object("CronJob", "", "nightly", map[string]any{"jobTemplate": map[string]any{"spec": template(containers("app"))}}),
				generated,
			}}},
			{Number: 2, Name: "file", Action: action.StaticPod{Node: "node-a", Pod: object("Pod", "", "static", containers("app"))}},
			{Number: 3, Name: "first", Action: action.Scrape{Component: "kubelet/node-a"}},
			{Number: 4, Name: "look", Action: action.Checks{Checks: []action.Check{{ID: "c", Line: 1, Observe: observe, Must: must}}}},
			{Number: 5, Name: "second", Action: action.Scrape{Component: "kube-apiserver"}},
			{Number: 6, Name: "more", Action: action.Patch{
				Object: spec.ObjectRef{Resource: "deployments", Namespace: "default", Name: "web"},
				Merge:  map[string]any{"spec": template(containers("sidecar"))},
			}},
			{Number: 7, Name: "pods", Action: action.PodsAPI{Node: "node-a", Call: action.WatchPods}},
		},
	}
}

// TestWhatNothingDeclaresIsRefused: it would never be seen, so that a check of it is
// wrong whatever a release does.
func TestWhatNothingDeclaresIsRefused(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`containers["payment/app"].running`:                                     `"payment/app" is no container of this scenario: did you mean payments/app?`,
		`containers["default/payments/app"].running`:                            `"default/payments/app" is no container of this scenario: did you mean payments/app?`,
		`containers["payments/ap"].running`:                                     `"payments/ap" is no container of this scenario: did you mean payments/app?`,
		`containers["web-1-2/ap"].running`:                                      `"web-1-2/ap" is no container of this scenario: did you mean web-*/app?`,
		`connections["static/app"].size()`:                                      `"static/app" is no container of this scenario: there are payments/app, payments/log, web-*/app, web-*/sidecar, shop/db-*/app, nightly-*/app, shop/batch*/app, static-node-a/app`,
		`connections.exists(k, k.startsWith("pyments/"))`:                       `"pyments/" is no container of this scenario: did you mean payments/app?`,
		`containers.all(k, k != "paymens/app")`:                                 `"paymens/app" is no container of this scenario: did you mean payments/app?`,
		`pods["payment"].spec`:                                                  `"payment" is no pod of this scenario: did you mean payments?`,
		`!("paymets" in pods)`:                                                  `"paymets" is no pod of this scenario: did you mean payments?`,
		`pods[?"db-0"].hasValue()`:                                              `"db-0" is no pod of this scenario: there are payments, web-*, shop/db-*, nightly-*, shop/batch*, static-node-a`,
		`events["payment"].size()`:                                              `"payment" is no pod of this scenario: did you mean payments?`,
		`nodes["node-3"].ready`:                                                 `"node-3" is no node of this scenario: did you mean node-0?`,
		`components["kublet/node-a"].running`:                                   `"kublet/node-a" is no component of this scenario: did you mean kubelet/node-a?`,
		`leases["lease-nodes/c"].oldest`:                                        `"lease-nodes/c" is no zone of simulated nodes of this scenario: did you mean lease-nodes/a?`,
		`dependents["kcm"].replicas`:                                            `"kcm" is no dependent of this scenario: there is only kube-controller-manager`,
		`calls["dependency-watchdog->api"].size()`:                              `"dependency-watchdog->api" is no link with recorded requests of this scenario: did you mean dependency-watchdog->kube-apiserver?`,
		`requests["crate"].code`:                                                `"crate" is no write or get step of this scenario: did you mean create?`,
		`requests["first"].code`:                                                `"first" is no write or get step of this scenario: there are create, more`,
		`requests.crate.code`:                                                   `"crate" is no write or get step of this scenario: did you mean create?`,
		`has(requests.crate)`:                                                   `"crate" is no write or get step of this scenario: did you mean create?`,
		`requests["more"].code`:                                                 `"more" is step 6, which comes later`,
		`scrapes["second"].a`:                                                   `"second" is step 5, which comes later`,
		`metrics["kube-apiserver"].a`:                                           `"kube-apiserver" is step 5, which comes later`,
		`metrics["kubelet/node-b"].a`:                                           `"kubelet/node-b" is no scraped component of this scenario: did you mean kubelet/node-a?`,
		`logs["create"].size()`:                                                 `"create" is no log step of this scenario: there is none`,
		`watches["pod"].events`:                                                 `"pod" is no podsAPI step that watches of this scenario: did you mean pods?`,
		`objects["pods/payments"].spec`:                                         `"pods/payments" is no object of this scenario: a key is pods/NAMESPACE/NAME`,
		`objects["nodes/default/node-a"].spec`:                                  `"nodes/default/node-a" is no object of this scenario: a key is nodes/NAME`,
		`objects["configmaps/default/setings"].data`:                            `"configmaps/default/setings" is no object of this scenario: did you mean configmaps/default/settings?`,
		`objects["configmaps/settings"].data`:                                   `"configmaps/settings" is no object of this scenario: a key is configmaps/NAMESPACE/NAME`,
		`"poddisruptionbudgets/default/x" in objects`:                           `"poddisruptionbudgets/default/x" is no object of this scenario: there is none`,
		`pods["payments"].spec.containers[0].name == "ap"`:                      `"ap" is no container of this scenario: did you mean app?`,
		`pods["payments"].status.containerStatuses.exists(c, c.name in ["ap"])`: `"ap" is no container of this scenario: did you mean app?`,
		`objects["deployments/default/wbe"].spec`:                               `"deployments/default/wbe" is no object of this scenario: did you mean deployments/default/web?`,
		`history["nodes/nodea"].size()`:                                         `"nodes/nodea" is no object of this scenario: did you mean nodes/node-a?`,
		`objects.filter(k, k.startsWith("jobs/default/day"))`:                   `"jobs/default/day" is no object of this scenario: did you mean jobs/default/nightly-*?`,
	} {
		cells := []plan.Cell{playground(expression, ""), playground(expression, "")}
		if got, want := fmt.Sprint(Undeclared(cells)), "c.yaml:2:3: check c: "+want; got != want {
			t.Errorf("%s:\n got %s\nwant %s", expression, got, want)
		}
	}
	if got := fmt.Sprint(Undeclared([]plan.Cell{playground("pods", `"payment" in it`)})); got != `c.yaml:3:3: check c: "payment" is no pod of this scenario: did you mean payments?` {
		t.Errorf("what is observed is not known to the condition: %s", got)
	}
}

// TestWhatMayExistIsNotRefused: names that controllers and the API server make are not
// known before.
func TestWhatMayExistIsNotRefused(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{
		`containers["payments/log"].running`,
		`containers["web-7d4b9c-x2x4q/app"].running && containers["web-7d4b9c-x2x4q/sidecar"].running`,
		`containers["shop/db-0/app"].running`,
		`containers["nightly-2900-abcde/app"].running`,
		`containers["static-node-a/app"].running`,
		`connections["shop/batchabcde/app"].size()`,
		`containers.exists(k, k.startsWith("web-") && k.endsWith("/app"))`,
		`containers.exists(k, k.startsWith("pay"))`,
		`["payments", "web-0"].map(p, pods[p])`,
		`["a", "b"].all(n, pods["any" + n].spec == 1)`,
		`pods["payments"].metadata.labels["any"]`,
		`pods["payments"].spec.nodeName == "any"`,
		`nodes["node-0"].ready == nodes["node-a"].ready`,
		`components["seed/kube-apiserver"].at`,
		`leases["lease-nodes/b"].oldest`,
		`requests["create"].response.metadata.name == "any"`,
		`metrics["kubelet/node-a"]["any"].size() + scrapes["first"]["any"].size()`,
		`objects["pods/shop/batchabcde"].spec`,
		`objects["jobs/default/nightly-1"].spec`,
		`objects["replicasets/default/web-1"].spec`,
		`objects.filter(k, k.startsWith("jobs/")).size()`,
		`objects["configmaps/kube-system/any"].data`,
		`objects["configmaps/default/kube-root-ca.crt"].data == objects["configmaps/default/other"].data`,
		`objects["priorityclasses/urgent"].value == 1`,
		`pods["payments"].status.containerStatuses.exists(c, c.name == "app")`,
		`pods["payments"].spec.volumes.exists(c, c.name == "ap")`,
		`objects["seed/deployments/shoot/any"].spec`,
		`objects["leases/kube-node-lease/any"].spec`,
	} {
		if err := Undeclared([]plan.Cell{playground(expression, "")}); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// TestAFieldThatObjectsDontHaveIsRefused: of objects whose types are known.
func TestAFieldThatObjectsDontHaveIsRefused(t *testing.T) {
	t.Parallel()
	refused := func(version release.Version, observe, must string) string {
		cell := playground(observe, must)
		cell.Topology.Version = version
		if err := errors.Join(Undeclared([]plan.Cell{cell}), MissingFields([]plan.Cell{cell})); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, tc := range []struct{ observe, must, want string }{
		{`pods["payments"].status.phse`, "", `c.yaml:2:3: check c: undefined field 'phse': did you mean phase?`},
		{`pods["payments"].name`, "", `c.yaml:2:3: check c: undefined field 'name': there are apiVersion, kind, metadata, spec, status`},
		{`pods.exists(p, pods[p].status.containerStatuses.exists(c, c.restarts > 0))`, "", `c.yaml:2:3: check c: undefined field 'restarts': there are allocatedResources, allocatedResourcesStatus, containerID, image, imageID, lastState, name, ready, resources, restartCount, started, state, stopSignal, user, volumeMounts`},
		{`objects["deployments/default/web"].status.redyReplicas`, "", `c.yaml:2:3: check c: undefined field 'redyReplicas': did you mean readyReplicas?`},
		{`history["pods/default/payments"].map(p, p.spec.nodName)`, "", `c.yaml:2:3: check c: undefined field 'nodName': did you mean nodeName?`},
		{`pods["payments"].?status.?any`, "", `c.yaml:2:3: check c: undefined field 'any': there are allocatedResources, conditions, containerStatuses, ephemeralContainerStatuses, extendedResourceClaimStatus, hostIP, hostIPs, initContainerStatuses, message, nodeAllocatableResourceClaimStatuses, nominatedNodeName, observedGeneration, phase, podIP, podIPs, qosClass, reason, resize, resourceClaimStatuses, resources, startTime, volumeHealth`},
		{`pods["payments"].spec.containers[0]`, `it.livenessProbe.grpc.prt == 1`, `c.yaml:3:3: check c: undefined field 'prt': did you mean port?`},
	} {
		if got := refused(release.Newest, tc.observe, tc.must); got != tc.want {
			t.Errorf("%s, %s:\n got %s\nwant %s", tc.observe, tc.must, got, tc.want)
		}
	}
	for observe, must := range map[string]string{
		`pods["payments"].status.phase`:                                                        `it == "Running"`,
		`pods["payments"].spec.containers[0].livenessProbe.httpGet.port`:                       `it == 8080 || it == "http"`,
		`pods["payments"].metadata.labels.any`:                                                 `it == "a"`,
		`pods["payments"].metadata.creationTimestamp > "2026"`:                                 `it`,
		`objects.filter(k, k.startsWith("jobs/")).map(k, objects[k].any)`:                      `it.size() == 0`,
		`objects["deployments/default/web"].spec.template.spec.containers[0].resources.limits`: `it.cpu == "1"`,
		`objects["configmaps/default/a"].data.any`:                                             `it == ""`,
	} {
		if got := refused(release.Newest, observe, must); got != "" {
			t.Errorf("%s, %s: %s", observe, must, got)
		}
	}
	if got := refused("v1.20.1", `pods["payments"].status.phse`, ""); got != "" {
		t.Errorf("the types of another release are not known: %s", got)
	}
}

// TestTheTypesAreThoseOfTheNewestRelease: fields are looked for in k8s.io/api.
func TestTheTypesAreThoseOfTheNewestRelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	published := strings.Replace(release.Newest.MajorMinor(), "v1.", "v0.", 1)
	if !strings.Contains(string(text), "\tk8s.io/api "+published+".") {
		t.Errorf("go.mod has another k8s.io/api than %s", published)
	}
}

// TestAKindThatNoReleaseServesIsRefused: of an object that is created, patched or
// deleted, if it is nearly one that there is.
func TestAKindThatNoReleaseServesIsRefused(t *testing.T) {
	t.Parallel()
	at := func(name string, line int) spec.Use {
		return spec.Use{Name: name, Position: strict.Position{File: "c.yaml", Line: line, Column: 5}}
	}
	cell := playground("1", "")
	cell.Uses = spec.Uses{
		Kinds:     []spec.Use{at("Deploymnt", 2), at("Pod", 3), at("pod", 4), at("SubjectAccessReview", 5), at("OfAnotherGroup", 6)},
		Resources: []spec.Use{at("pdos", 7), at("deployments.apps", 8), at("pods", 9), at("deployment", 10)},
	}
	const want = `c.yaml:2:5: no release has a kind Deploymnt: did you mean Deployment?
c.yaml:4:5: no release has a kind pod: did you mean Pod?
c.yaml:7:5: no release has a resource pdos: did you mean pods?
c.yaml:8:5: no release has a resource deployments.apps: did you mean deployments?
c.yaml:10:5: no release has a resource deployment: did you mean deployments?`
	if diff := cmp.Diff(want, fmt.Sprint(Undeclared([]plan.Cell{cell, cell}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
