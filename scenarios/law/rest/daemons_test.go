package rest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// daemonSet is one with the label app: web, and with more in the spec of its pods.
func daemonSet(meta, spec, pod, status string) string {
	return workload("DaemonSet", "web", meta, "template: {metadata: {labels: {app: web}}, spec: {"+pod+"}}, "+spec, status)
}

// daemonOn is the pod of a DaemonSet on a node.
func daemonOn(node, meta, status string) string {
	return manifest("Pod", "web-"+node, "labels: {app: web}, ownerReferences: [{kind: DaemonSet, name: web}], "+meta,
		"spec: {nodeName: "+node+"}\nstatus: {"+status+"}")
}

// A taint of a node, and the parts of the spec of a pod that are about nodes.
const (
	tainted   = "taints: [{key: k, value: v, effect: NoSchedule}]"
	tolerant  = "tolerations: [{key: k, operator: Exists}]"
	inEast    = "nodeSelector: {zone: east}"
	notInWest = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
		"[{matchExpressions: [{key: zone, operator: NotIn, values: [west]}]}]}}}"
)

func TestReportsDaemonSets(t *testing.T) {
	says := func(desired, current, misscheduled, ready int) string {
		return fmt.Sprintf("desiredNumberScheduled: %d, currentNumberScheduled: %d, numberMisscheduled: %d, numberReady: %d", desired, current, misscheduled, ready)
	}
	set := func(pod, status string) string { return daemonSet("", "", pod, status) }
	a, b, noB := nodeNamed("a", "zone: east", "", ""), nodeNamed("b", "zone: west", "", ""), nodeNamed("b", "zone: west", tainted, "")
	fullB := strings.Replace(noB, "key: k", "key: node.kubernetes.io/disk-pressure", 1)
	onA, onB := daemonOn("a", "", isReady), daemonOn("b", "", isReady)
	waiting := strings.Replace(daemonOn("b", "", "phase: Pending"), "nodeName: b", "", 1)
	both := []string{a, b, onA, onB}
	cordoned := "unschedulable: true, " + strings.Replace(tainted, "key: k", "key: node.kubernetes.io/unschedulable", 1)
	// wrong is a breach of numbers in their order, each as "1, and 2".
	wrong := func(desired, current, misscheduled, ready string) []string {
		var all []string
		for n, is := range []string{desired, current, misscheduled, ready} {
			if is != "" {
				name := []string{"desiredNumberScheduled", "currentNumberScheduled", "numberMisscheduled", "numberReady"}[n]
				all = append(all, "status."+name+" is "+is+" are so")
			}
		}
		return []string{"daemonsets/default/web: " + strings.Join(all, "; ")}
	}
	nobodyMisplaced, misplaced := wrong("", "", "1, and 0", ""), wrong("2, and 1", "2, and 1", "0, and 1", "2, and 1")
	behind := func(observed int) string {
		return daemonSet("generation: 2", "", "", fmt.Sprintf("observedGeneration: %d, %s", observed, says(2, 2, 1, 2)))
	}
	judge(t, reportsPods, inWhole(map[string]judged{
		"it is right":          {manifests: with(both, set("", says(2, 2, 0, 2)))},
		"it is wrong":          {with(both, set("", says(1, 1, 0, 0))), wrong("1, and 2", "1, and 2", "", "0, and 2")},
		"it says nothing":      {with(both, set("", "")), wrong("0, and 2", "0, and 2", "", "0, and 2")},
		"there are no nodes":   {manifests: []string{set("", "")}},
		"a pod is missing":     {manifests: []string{a, b, onA, set("", says(2, 1, 0, 1))}},
		"it counts none":       {[]string{a, b, onA, set("", says(2, 2, 0, 1))}, wrong("", "2, and 1", "", "")},
		"a pod is not ready":   {manifests: []string{a, b, onA, daemonOn("b", "", isUnready), set("", says(2, 2, 0, 1))}},
		"two pods on a node":   {manifests: with(both, set("", says(2, 2, 0, 2)), strings.Replace(onB, "web-b", "web-c", 1))},
		"a pod elsewhere":      {manifests: []string{a, b, onA, daemonOn("b", "namespace: other", isReady), set("", says(2, 1, 0, 1))}},
		"a pod of another set": {manifests: []string{a, b, onA, strings.Replace(onB, "name: web}", "name: other}", 1), set("", says(2, 1, 0, 1))}},

		"a taint keeps it out":        {manifests: []string{a, noB, onA, set("", says(1, 1, 0, 1))}},
		"its pod came before a taint": {manifests: []string{a, noB, onA, onB, set("", says(1, 1, 1, 1))}},
		"a taint is not seen":         {[]string{a, noB, onA, onB, set("", says(2, 2, 0, 2))}, misplaced},
		"a taint is gone":             {with(both, set("", says(2, 2, 1, 2))), nobodyMisplaced},
		"a taint evicts":              {manifests: []string{a, strings.Replace(noB, "NoSchedule", "NoExecute", 1), onA, set("", says(1, 1, 0, 1))}},
		"a taint to prefer others":    {manifests: []string{a, strings.Replace(noB, "NoSchedule", "PreferNoSchedule", 1), onA, onB, set("", says(2, 2, 0, 2))}},
		"it tolerates a taint":        {manifests: []string{a, noB, onA, onB, set(tolerant, says(2, 2, 0, 2))}},
		"a node is cordoned":          {manifests: []string{a, nodeNamed("b", "", cordoned, ""), onA, onB, set("", says(2, 2, 0, 2))}},
		"a node has no room on disk":  {manifests: []string{a, fullB, onA, onB, set("", says(2, 2, 0, 2))}},
		"a taint of a similar name":   {manifests: []string{a, strings.Replace(noB, "key: k", "key: example.com/node.kubernetes.io", 1), onA, set("", says(1, 1, 0, 1))}},
		"it selects a node":           {manifests: []string{a, b, onA, set(inEast, says(1, 1, 0, 1))}},
		"it does not select any more": {manifests: with(both, set(inEast, says(1, 1, 1, 1)))},
		"a selector is not seen":      {with(both, set(inEast, says(2, 2, 0, 2))), misplaced},
		"an affinity is not seen":     {with(both, set(notInWest, says(2, 2, 0, 2))), misplaced},
		"an affinity that is broken":  {manifests: with(both, set(strings.Replace(notInWest, "NotIn", "Like", 1), says(2, 2, 1, 2)))},

		"it is about another spec": {manifests: with(both, behind(1))},
		"it is about this spec":    {with(both, behind(2)), nobodyMisplaced},
		"it goes":                  {manifests: with(both, daemonSet(isGoing, "", "", says(2, 2, 1, 2)))},
		"pods are available later": {manifests: []string{a, b, onA, daemonOn("b", "", readySince("11:58:56")), daemonSet("", "minReadySeconds: 60", "", says(2, 2, 1, 2))}},
		"pods should be available": {[]string{a, b, onA, daemonOn("b", "", readySince("11:58:55")), daemonSet("", "minReadySeconds: 60", "", says(2, 2, 1, 2))}, nobodyMisplaced},
		"a pod goes":               {manifests: []string{a, b, onA, daemonOn("b", isGoing, isReady), set("", says(2, 2, 1, 2))}},
		"a pod ended":              {manifests: []string{a, b, onA, daemonOn("b", "", hasFailed), set("", says(2, 2, 1, 2))}},
		"a pod waits for its node": {manifests: []string{a, b, onA, waiting, set("", says(2, 2, 1, 1))}},
	}))
}

func TestOwnsDaemonSets(t *testing.T) {
	set := daemonSet("", "", "", "")
	a, b, noB := nodeNamed("a", "zone: east", "", ""), nodeNamed("b", "zone: west", "", ""), nodeNamed("b", "zone: west", tainted, "")
	onA, onB := daemonOn("a", "", isReady), daemonOn("b", "", isReady)
	lacks := []string{"daemonsets/default/web: no pod on node b"}
	judge(t, hasPods, inWhole(map[string]judged{
		"a pod on each node":           {manifests: []string{a, b, onA, onB, set}},
		"a pod is missing":             {[]string{a, b, onA, set}, lacks},
		"all are missing":              {[]string{a, b, set}, []string{"daemonsets/default/web: no pod on node a", lacks[0]}},
		"there is no node":             {manifests: []string{set}},
		"a pod that is not ready":      {manifests: []string{a, b, onA, daemonOn("b", "", isUnready), set}},
		"a pod of another set":         {[]string{a, b, onA, strings.Replace(onB, "name: web}", "name: other}", 1), set}, lacks},
		"a pod of another namespace":   {[]string{a, b, onA, daemonOn("b", "namespace: other", isReady), set}, lacks},
		"a taint keeps it out":         {manifests: []string{a, noB, onA, set}},
		"it tolerates a taint":         {[]string{a, noB, onA, daemonSet("", "", tolerant, "")}, lacks},
		"a taint to prefer others":     {[]string{a, strings.Replace(noB, "NoSchedule", "PreferNoSchedule", 1), onA, set}, lacks},
		"a node is cordoned":           {[]string{a, strings.Replace(noB, "key: k", "key: node.kubernetes.io/unschedulable", 1), onA, set}, lacks},
		"it selects another node":      {manifests: []string{a, b, onA, daemonSet("", "", inEast, "")}},
		"it selects this node":         {[]string{a, b, onA, daemonSet("", "", strings.Replace(inEast, "east", "west", 1), "")}, lacks},
		"its affinity is to another":   {manifests: []string{a, b, onA, daemonSet("", "", notInWest, "")}},
		"a node goes":                  {manifests: []string{a, strings.Replace(b, "{name: b", "{"+isGoing+", name: b", 1), onA, set}},
		"a pod ended":                  {manifests: []string{a, b, onA, daemonOn("b", "", hasFailed), set}},
		"a pod goes":                   {manifests: []string{a, b, onA, daemonOn("b", isGoing, isReady), set}},
		"a pod waits for its node":     {manifests: []string{a, b, onA, strings.Replace(daemonOn("b", "", "phase: Pending"), "nodeName: b", "", 1), set}},
		"a quota may refuse it":        {manifests: []string{a, b, onA, set, "kind: ResourceQuota\nmetadata: {name: q}"}},
		"a quota of another namespace": {[]string{a, b, onA, set, "kind: ResourceQuota\nmetadata: {name: q, namespace: other}"}, lacks},
		"limits may refuse it":         {manifests: []string{a, b, onA, set, "kind: LimitRange\nmetadata: {name: l}"}},
		"a DaemonSet goes":             {manifests: []string{a, b, onA, daemonSet(isGoing, "", "", "")}},
		"an affinity that is broken":   {manifests: []string{a, b, daemonSet("", "", strings.Replace(notInWest, "NotIn", "Like", 1), "")}},
	}))
}

// inWhole are tests in a cluster of which all is recorded.
func inWhole(tests map[string]judged) map[string]judged {
	for name, test := range tests {
		test.manifests = append(slices.Clone(test.manifests), wholeCluster, "kind: Namespace\nmetadata: {name: other}")
		tests[name] = test
	}
	return tests
}

// TestHasNoMoreDaemons: a node has one pod of a DaemonSet, unless a rollout is not complete.
func TestHasNoMoreDaemons(t *testing.T) {
	a := nodeNamed("a", "", "", "")
	two := []string{a, daemonOn("a", "", isReady), strings.Replace(daemonOn("a", "", isReady), "web-a", "web-x", 1)}
	done := daemonSet("", "updateStrategy: {rollingUpdate: {maxSurge: 1}}", "", "updatedNumberScheduled: 1, desiredNumberScheduled: 1")
	judge(t, hasNoMore, inWhole(map[string]judged{
		"two on a node": {with(two, done), []string{"daemonsets/default/web: 2 pods on node a"}},
		"a rollout":     {manifests: with(two, strings.Replace(done, "updatedNumberScheduled: 1", "updatedNumberScheduled: 0", 1))},
		"one":           {manifests: []string{a, two[1], done}},
		"one goes":      {manifests: []string{a, two[1], strings.Replace(daemonOn("a", isGoing, isReady), "web-a", "web-x", 1), done}},
	}))
}
