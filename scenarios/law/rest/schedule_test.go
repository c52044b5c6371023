package rest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

// manifest is an object with more fields than its kind and name, as flow mappings.
func manifest(kind, name, meta, more string) string {
	return fmt.Sprintf("kind: %s\nmetadata: {name: %s, %s}\n%s", kind, name, meta, more)
}

// nodeNamed is a node that is ready, with labels, more of its spec, and allocatable resources.
func nodeNamed(name, labels, spec, allocatable string) string {
	return manifest("Node", name, "labels: {kubernetes.io/hostname: "+name+", "+labels+"}", "spec: {"+spec+"}\n"+
		"status: {conditions: [{type: Ready, status: 'True'}], allocatable: {pods: 3, cpu: '2', memory: 4Gi, "+allocatable+"}}")
}

// podOn is a pod on a node.
func podOn(node, name, labels, spec string) string {
	return manifest("Pod", name, "labels: {"+labels+"}", "spec: {nodeName: "+node+", "+spec+"}\nstatus: {phase: Running}")
}

// refused is the status of a pod that a scheduler said can't be scheduled.
const refused = "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no nodes}]}"

// podWaiting is a pod, new, that a scheduler said can't be scheduled.
func podWaiting(labels, spec string) string {
	return manifest("Pod", "new", "labels: {"+labels+"}", "spec: {"+spec+"}\n"+refused)
}

// resources is a list of containers with one that requests resources.
func resources(requests string) string {
	return "containers: [{name: app, resources: {requests: {" + requests + "}}}]"
}

// wholeCluster are the namespaces without which a state is not that of a whole cluster.
const wholeCluster = "kind: Namespace\nmetadata: {name: kube-system}\n---\nkind: Namespace\nmetadata: {name: default, labels: {team: a}}"

func antiAffinityTo(label, key, more string) string {
	return "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: " + label + "}}, topologyKey: " + key + more + "}]}}"
}

func affinityTo(label, key string) string {
	return strings.Replace(antiAffinityTo(label, key, ""), "podAntiAffinity", "podAffinity", 1)
}

func spreadOver(key, selector, more string) string {
	return "topologySpreadConstraints: [{topologyKey: " + key + ", maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: " + selector + more + "}]"
}

func TestIsScheduled(t *testing.T) {
	t.Parallel()
	a, b := nodeNamed("a", "zone: east", "", ""), nodeNamed("b", "zone: west", "", "")
	const web = "{matchLabels: {app: web}}"
	tests := map[string]struct {
		manifests []string
		fits      string // a node; empty if none
	}{
		"it fits":            {[]string{a, b, podWaiting("", resources("cpu: '2'"))}, "a"},
		"the second one":     {[]string{a, b, podOn("a", "old", "", resources("cpu: 1m")), podWaiting("", resources("cpu: '2'"))}, "b"},
		"too large":          {[]string{a, podWaiting("", resources("cpu: 2001m"))}, ""},
		"nearly 64 bits":     {[]string{nodeNamed("a", "", "", "memory: 7Ei"), podWaiting("", resources("memory: 7Ei"))}, "a"},
		"beyond 64 bits":     {[]string{nodeNamed("a", "", "", "memory: 7Ei"), podOn("a", "old", "", resources("memory: 6Ei")), podWaiting("", resources("memory: 6Ei"))}, ""},
		"unknown resource":   {[]string{a, podWaiting("", resources("example.com/gpu: 1"))}, ""},
		"extended resource":  {[]string{nodeNamed("a", "", "", "example.com/gpu: 1"), podWaiting("", resources("example.com/gpu: 1"))}, "a"},
		"no zero resource":   {[]string{a, podWaiting("", resources("example.com/gpu: 0"))}, "a"},
		"an ended pod":       {[]string{a, strings.Replace(podOn("a", "old", "", resources("cpu: '2'")), "Running", "Succeeded", 1), podWaiting("", resources("cpu: '2'"))}, "a"},
		"all places":         {[]string{a, podOn("a", "one", "", ""), podOn("a", "two", "", ""), podOn("a", "three", "", ""), podWaiting("", "")}, ""},
		"one place":          {[]string{a, podOn("a", "one", "", ""), podOn("a", "two", "", ""), podWaiting("", "")}, "a"},
		"an init container":  {[]string{a, podWaiting("", "initContainers: [{name: i, resources: {requests: {cpu: '3'}}}]")}, ""},
		"a sidecar":          {[]string{a, podWaiting("", "initContainers: [{name: i, restartPolicy: Always, resources: {requests: {cpu: 1500m}}}], "+resources("cpu: 600m"))}, ""},
		"overhead":           {[]string{a, podWaiting("", "overhead: {cpu: 1m}, "+resources("cpu: '2'"))}, ""},
		"a whole pod's":      {[]string{a, podWaiting("", "resources: {requests: {cpu: '3'}}, "+resources("cpu: '1'"))}, ""},
		"not ready":          {[]string{strings.Replace(a, "'True'", "Unknown", 1), podWaiting("", "")}, ""},
		"cordoned":           {[]string{nodeNamed("a", "", "unschedulable: true", ""), podWaiting("", "")}, ""},
		"cordon tolerated":   {[]string{nodeNamed("a", "", "unschedulable: true", ""), podWaiting("", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]")}, "a"},
		"tainted":            {[]string{nodeNamed("a", "", "taints: [{key: k, value: v, effect: NoExecute}]", ""), podWaiting("", "")}, ""},
		"taint tolerated":    {[]string{nodeNamed("a", "", "taints: [{key: k, value: v, effect: NoExecute}]", ""), podWaiting("", "tolerations: [{key: k, value: v}]")}, "a"},
		"a taint to prefer":  {[]string{nodeNamed("a", "", "taints: [{key: k, effect: PreferNoSchedule}]", ""), podWaiting("", "")}, "a"},
		"taint compared":     {[]string{a, podWaiting("", "tolerations: [{key: k, operator: Gt, value: '1'}]")}, ""},
		"node selector":      {[]string{a, b, podWaiting("", "nodeSelector: {zone: west}")}, "b"},
		"node affinity":      {[]string{a, b, podWaiting("", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: NotIn, values: [east]}]}]}}}")}, "b"},
		"a node by name":     {[]string{a, b, podWaiting("", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [c]}]}]}}}")}, ""},
		"a port taken":       {[]string{a, podOn("a", "old", "", "containers: [{name: app, ports: [{hostPort: 80}]}]"), podWaiting("", "containers: [{name: app, ports: [{hostPort: 80, hostIP: 10.0.0.1, protocol: TCP}]}]")}, ""},
		"a port of another":  {[]string{a, podOn("a", "old", "", "containers: [{name: app, ports: [{hostPort: 80, hostIP: 10.0.0.2}]}]"), podWaiting("", "containers: [{name: app, ports: [{hostPort: 80, hostIP: 10.0.0.1}]}]")}, "a"},
		"a port of UDP":      {[]string{a, podOn("a", "old", "", "containers: [{name: app, ports: [{hostPort: 80}]}]"), podWaiting("", "containers: [{name: app, ports: [{hostPort: 80, protocol: UDP}]}]")}, "a"},
		"kept free":          {[]string{a, podWaiting("", ""), manifest("Pod", "first", "", "spec: {schedulerName: mine}\nstatus: {nominatedNodeName: a, conditions: [{type: PodScheduled, status: 'False'}]}")}, ""},
		"gated":              {[]string{a, podWaiting("", "schedulingGates: [{name: g}]")}, ""},
		"another scheduler":  {[]string{a, podWaiting("", "schedulerName: mine")}, ""},
		"with a claim":       {[]string{a, podWaiting("", "resourceClaims: [{name: gpu}]")}, ""},
		"with a volume":      {[]string{a, podWaiting("", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")}, ""},
		"of a group":         {[]string{a, podWaiting("", "schedulingGroup: {podGroupName: g}")}, ""},
		"of plain volumes":   {[]string{a, podWaiting("", "volumes: [{name: data, emptyDir: {}}]")}, "a"},
		"rules of a restart": {[]string{a, podWaiting("", "containers: [{name: app, restartPolicyRules: []}]")}, ""},

		"kept apart":                  {[]string{a, podOn("a", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "kubernetes.io/hostname", ""))}, ""},
		"kept apart, elsewhere":       {[]string{a, b, podOn("a", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "zone", ""))}, "b"},
		"kept apart without a domain": {[]string{nodeNamed("c", "", "", ""), podOn("c", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "zone", ""))}, "c"},
		"the other keeps apart":       {[]string{a, podOn("a", "old", "", antiAffinityTo("web", "zone", "")), podWaiting("app: web", "")}, ""},
		"kept apart, other namespace": {[]string{a, podOn("a", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "zone", ", namespaces: [other]"))}, "a"},
		"kept apart, all namespaces":  {[]string{a, podOn("a", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "zone", ", namespaceSelector: {}"))}, ""},
		"kept apart, some namespaces": {[]string{a, podOn("a", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "zone", ", namespaceSelector: {matchLabels: {team: a}}"))}, ""},
		"kept apart, no such":         {[]string{a, podOn("a", "old", "app: web", ""), podWaiting("", antiAffinityTo("web", "zone", ", namespaceSelector: {matchLabels: {team: b}}"))}, "a"},
		"kept apart by keys":          {[]string{a, podWaiting("app: web", antiAffinityTo("web", "zone", ", matchLabelKeys: [rev]"))}, ""},
		"drawn to":                    {[]string{a, b, podOn("b", "old", "app: db", ""), podWaiting("", affinityTo("db", "zone"))}, "b"},
		"drawn to what is not there":  {[]string{a, podWaiting("app: web", affinityTo("db", "zone"))}, ""},
		"the first of its own":        {[]string{a, podWaiting("app: web", affinityTo("web", "zone"))}, "a"},
		"the first without a domain":  {[]string{nodeNamed("c", "", "", ""), podWaiting("app: web", affinityTo("web", "zone"))}, ""},
		"the second of its own":       {[]string{a, strings.Replace(b, "'True'", "'False'", 1), podOn("b", "old", "app: web", ""), podWaiting("app: web", affinityTo("web", "zone"))}, ""},

		"spread":                {[]string{a, b, podOn("a", "old", "app: web", ""), podWaiting("app: web", spreadOver("zone", web, ""))}, "b"},
		"spread, others first":  {[]string{a, strings.Replace(b, "'True'", "'False'", 1), podOn("a", "old", "app: web", ""), podWaiting("app: web", spreadOver("zone", web, ""))}, ""},
		"spread over its own":   {[]string{a, b, podOn("a", "old", "app: web", ""), podWaiting("app: web", "nodeSelector: {zone: east}, "+spreadOver("zone", web, ""))}, "a"},
		"spread over all":       {[]string{a, b, podOn("a", "old", "app: web", ""), podWaiting("app: web", "nodeSelector: {zone: east}, "+spreadOver("zone", web, ", nodeAffinityPolicy: Ignore"))}, ""},
		"spread over tainted":   {[]string{a, nodeNamed("b", "zone: west", "taints: [{key: k, effect: NoSchedule}]", ""), podOn("a", "old", "app: web", ""), podWaiting("app: web", spreadOver("zone", web, ""))}, ""},
		"spread over untainted": {[]string{a, nodeNamed("b", "zone: west", "taints: [{key: k, effect: NoSchedule}]", ""), podOn("a", "old", "app: web", ""), podWaiting("app: web", spreadOver("zone", web, ", nodeTaintsPolicy: Honor"))}, "a"},
		"too few domains":       {[]string{a, podOn("a", "old", "app: web", ""), podWaiting("app: web", spreadOver("zone", web, ", minDomains: 2"))}, ""},
		"spread without labels": {[]string{nodeNamed("c", "", "", ""), podWaiting("app: web", spreadOver("zone", web, ""))}, ""},
		"spread by nothing":     {[]string{a, b, podOn("a", "old", "app: web", ""), podWaiting("app: web", spreadOver("zone", "null", ""))}, "a"},
		"spread by all":         {[]string{a, b, podOn("a", "old", "app: db", ""), podWaiting("app: web", spreadOver("zone", "{}", ""))}, "b"},
		"spread by keys":        {[]string{a, podWaiting("app: web", spreadOver("zone", web, ", matchLabelKeys: [rev]"))}, ""},

		"another one is held":                {[]string{a, podWaiting("", resources("cpu: '1'")), manifest("Pod", "held", "", "spec: {volumes: [{name: d, ephemeral: {}}], "+resources("cpu: 1500m")+"}")}, ""},
		"another one is held, and both fit":  {[]string{a, podWaiting("", resources("cpu: '1'")), manifest("Pod", "held", "", "spec: {volumes: [{name: d, ephemeral: {}}], "+resources("cpu: 500m")+"}")}, "a"},
		"another one is held, which matters": {[]string{a, b, podWaiting("", antiAffinityTo("web", "zone", "")), manifest("Pod", "held", "labels: {app: web}", "spec: {resourceClaims: [{name: gpu}]}")}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if test.fits != "" {
				want = []string{"pods/default/new: it fits " + test.fits + ": the scheduler says: no nodes"}
			}
			s := stateOf(t, append(test.manifests, wholeCluster)...)
			if diff := cmp.Diff(want, breachesOf(s, isScheduled)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIsScheduledNeedsAWholeCluster: what is not known to be true of the whole cluster for a while is not judged.
func TestIsScheduledNeedsAWholeCluster(t *testing.T) {
	t.Parallel()
	a := nodeNamed("a", "", "", "")
	plain := strings.Replace(podWaiting("", ""), refused, "status: {phase: Pending}", 1)
	resized := podOn("a", "old", "", resources("cpu: 500m"))
	resized = strings.Replace(resized, "phase: Running", "phase: Running, containerStatuses: [{name: app, allocatedResources: {cpu: 1500m}}]", 1)
	for name, test := range map[string]struct {
		s    *State
		want []string
	}{
		"some namespaces":  {s: stateOf(t, a, podWaiting("", ""))},
		"no scheduler":     {s: stateOf(t, a, plain, wholeCluster)},
		"a scheduler":      {s: stateOf(t, a, plain, wholeCluster, manifest("Pod", "x", "", "spec: {nodeSelector: {a: b}}\n"+refused)), want: []string{"pods/default/new: it fits a: the scheduler says: nothing"}},
		"held by a resize": {s: stateOf(t, a, resized, podWaiting("", resources("cpu: '1'")), wholeCluster)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(test.s, isScheduled)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// recorded is the state at the end of a record. Each entry is how many seconds before an object was written, or a component started
// or ended: "60 kube-scheduler started".
func recorded(t *testing.T, entries ...string) *State {
	t.Helper()
	var events []record.Event
	add := func(entry, subject string, payload record.Payload) {
		before, err := time.ParseDuration(strings.Fields(entry)[0] + "s")
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, eventAt(t, restAt.Add(-before), subject, payload))
	}
	for _, entry := range entries {
		_, text, _ := strings.Cut(entry, " ")
		if name, is := strings.CutSuffix(text, " started"); is {
			add(entry, name, record.ComponentStarted{})
			continue
		}
		if name, is := strings.CutSuffix(text, " stopped"); is {
			add(entry, name, record.ComponentStopped{})
			continue
		}
		change := "modified"
		text, gone := strings.CutPrefix(text, "gone ")
		if gone {
			change = record.Deleted
		}
		for _, v := range versionsOf(t, text) {
			add(entry, v.Key, shown(v, change))
		}
	}
	return stateAfter(events)
}

// TestIsScheduledWaits: a scheduler is given the time that it may need to look at a pod again.
func TestIsScheduledWaits(t *testing.T) {
	t.Parallel()
	a, waiting := nodeNamed("a", "zone: east", "", ""), podWaiting("app: web", "")
	spread := podWaiting("app: web", spreadOver("zone", "{matchLabels: {app: web}}", ""))
	old := podOn("a", "old", "", resources("cpu: 500m"))
	begin := []string{"90 " + wholeCluster, "80 " + a, "70 " + old}
	for name, test := range map[string]struct {
		then []string
		fits bool
	}{
		"all is old":                     {[]string{"60 " + waiting}, true},
		"it is new":                      {[]string{"5 " + waiting}, true},
		"it is new and has no condition": {[]string{"60 kube-scheduler started", "5 " + strings.Replace(strings.Replace(waiting, "{name: new", "{creationTimestamp: 2026-01-01T11:59:55Z, name: new", 1), refused, "status: {phase: Pending}", 1), "60 " + manifest("Pod", "x", "", "spec: {nodeSelector: {a: b}}\n"+refused)}, false},
		"a pod is gone":                  {[]string{"60 " + waiting, "5 gone " + old}, false},
		"a pod was gone before":          {[]string{"60 " + waiting, "20 gone " + old}, true},
		"a pod that waited is gone":      {[]string{"60 " + waiting, "50 " + manifest("Pod", "x", "", "spec: {}"), "5 gone " + manifest("Pod", "x", "", "spec: {}")}, true},
		"a pod ended":                    {[]string{"60 " + waiting, "5 " + strings.Replace(old, "Running", "Failed", 1)}, false},
		"a pod needs less":               {[]string{"60 " + waiting, "5 " + strings.Replace(old, "500m", "400m", 1)}, false},
		"a pod is ready":                 {[]string{"60 " + waiting, "5 " + strings.Replace(old, "phase: Running", "phase: Running, conditions: [{type: Ready, status: 'True'}]", 1)}, true},
		"a pod was placed":               {[]string{"60 " + waiting, "5 " + podOn("a", "other", "app: db", "")}, true},
		"a pod was placed, which counts": {[]string{"60 " + spread, "5 " + podOn("a", "other", "app: db", "")}, false},
		"none was placed, which counts":  {[]string{"60 " + spread}, true},
		"a place is not kept any more":   {[]string{"60 " + waiting, "50 " + manifest("Pod", "x", "", "spec: {schedulerName: mine}\nstatus: {nominatedNodeName: a}"), "5 " + manifest("Pod", "x", "", "spec: {schedulerName: mine}")}, false},
		"a gate is open":                 {[]string{"60 " + podWaiting("app: web", "schedulingGates: [{name: g}]"), "5 " + waiting}, false},
		"a node is new":                  {[]string{"60 " + waiting, "5 " + nodeNamed("b", "", "", "")}, false},
		"a node has another label":       {[]string{"60 " + waiting, "5 " + nodeNamed("a", "zone: west", "", "")}, false},
		"a node is open":                 {[]string{"75 " + nodeNamed("a", "zone: east", "unschedulable: true", ""), "60 " + waiting, "5 " + a}, false},
		"a node has more":                {[]string{"60 " + waiting, "5 " + nodeNamed("a", "zone: east", "", "ephemeral-storage: 1Gi")}, false},
		"a node is ready":                {[]string{"75 " + strings.Replace(a, "'True'", "'False'", 1), "60 " + waiting, "5 " + a}, false},
		"a node sends a heartbeat":       {[]string{"60 " + waiting, "5 " + strings.Replace(a, "status: 'True'", "status: 'True', lastHeartbeatTime: 2026-01-01T11:59:55Z", 1)}, true},
		"the scheduler runs":             {[]string{"65 kube-scheduler/a started", "64 kube-scheduler/b started", "60 " + waiting, "50 kube-scheduler/a stopped"}, true},
		"no scheduler runs":              {[]string{"65 kube-scheduler started", "60 " + waiting, "50 kube-scheduler stopped"}, false},
		"the scheduler started of late":  {[]string{"65 kube-scheduler started", "60 " + waiting, "50 kube-scheduler stopped", "15 kube-scheduler started"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if test.fits {
				want = []string{"pods/default/new: it fits a: the scheduler says: no nodes"}
			}
			if diff := cmp.Diff(want, breachesOf(recorded(t, append(slices.Clone(begin), test.then...)...), isScheduled)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ownedBy is a pod of the ReplicaSet web that was scheduled to a node at a time: minutes and seconds.
func ownedBy(owner, name, node, at, spec string) string {
	return manifest("Pod", name, "creationTimestamp: 2026-01-01T11:20:00Z, labels: {app: web}, ownerReferences: [{kind: ReplicaSet, name: "+owner+"}]",
		"spec: {nodeName: "+node+", "+spec+"}\nstatus: {phase: Running, conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: 2026-01-01T11:"+at+"Z}]}")
}

func TestPlacedRight(t *testing.T) {
	t.Parallel()
	a, b := nodeNamed("a", "zone: east", "", ""), nodeNamed("b", "zone: west", "", "")
	set := func(replicas int, meta, spec string) string {
		return manifest("ReplicaSet", "web", meta, fmt.Sprintf("spec: {replicas: %d, template: {spec: {%s}}}", replicas, spec))
	}
	one := set(1, "", "")
	apart := antiAffinityTo("web", "zone", "")
	even := spreadOver("zone", "{matchLabels: {app: web}}", "")
	wide := strings.Replace(even, "maxSkew: 1", "maxSkew: 2", 1)
	three := func(spec string) []string {
		return []string{set(3, "generation: 1", ""), ownedBy("web", "web-1", "a", "20:00", spec), ownedBy("web", "web-2", "a", "20:05", spec), ownedBy("web", "web-3", "a", "20:10", spec)}
	}
	const uneven = "pods/default/web-3: zone=east has 3 of the pods, and zone=west has 0, where maxSkew is 1"
	for name, test := range map[string]struct {
		manifests []string
		written   string
		want      []string
	}{
		"node selector":          {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", "nodeSelector: {zone: west}")}, want: []string{"pods/default/web-1: its node selector or its node affinity does not match a"}},
		"node selector, matched": {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", "nodeSelector: {zone: east}")}},
		"a node that changed":    {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", "nodeSelector: {zone: west}")}, written: "nodes/a"},
		"a pod that changed":     {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", "nodeSelector: {zone: west}")}, written: "pods/default/web-1"},
		"a node of another life": {manifests: []string{a, one, ownedBy("web", "web-1", "a", "00:00", "nodeSelector: {zone: west}")}},
		"another scheduler":      {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", "schedulerName: mine, nodeSelector: {zone: west}")}},
		"a node by its owner":    {manifests: []string{a, set(1, "", "nodeName: a"), ownedBy("web", "web-1", "a", "20:00", "nodeSelector: {zone: west}")}},
		"a bare pod":             {manifests: []string{a, podOn("a", "web-1", "", "nodeSelector: {zone: west}")}},
		"a node that is gone":    {manifests: []string{b, one, ownedBy("web", "web-1", "a", "20:00", "nodeSelector: {zone: west}")}},

		"not apart": {
			manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:10", apart), ownedBy("web", "web-2", "a", "20:00", "")},
			want:      []string{"pods/default/web-1: it was placed in zone=east with pods/default/web-2, which the anti-affinity of pods/default/web-1 forbids"},
		},
		"not apart, by the first": {
			manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", apart), ownedBy("web", "web-2", "a", "20:10", "")},
			want:      []string{"pods/default/web-2: it was placed in zone=east with pods/default/web-1, which the anti-affinity of pods/default/web-1 forbids"},
		},
		"apart":                    {manifests: []string{a, b, one, ownedBy("web", "web-1", "a", "20:10", apart), ownedBy("web", "web-2", "b", "20:00", apart)}},
		"at the same time":         {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", apart), ownedBy("web", "web-2", "a", "20:01", apart)}},
		"with a pod of a client":   {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:00", apart), podOn("a", "web-2", "app: web", "")}},
		"namespaces by labels":     {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:10", antiAffinityTo("web", "zone", ", namespaceSelector: {matchLabels: {team: a}}")), ownedBy("web", "web-2", "a", "20:00", "")}, written: ""},
		"a label that was another": {manifests: []string{a, one, ownedBy("web", "web-1", "a", "20:10", apart), ownedBy("web", "web-2", "a", "20:00", "")}, written: "pods/default/web-2"},

		"uneven":                     {manifests: append(three(even), a, b), want: []string{uneven}},
		"even enough":                {manifests: append(three(strings.Replace(even, "maxSkew: 1", "maxSkew: 3", 1)), a, b)},
		"uneven, by more":            {manifests: append(three(wide), a, b), want: []string{strings.Replace(uneven, "is 1", "is 2", 1)}},
		"made anew, a skew of two":   {manifests: []string{a, b, three(wide)[0], three(wide)[1], three(wide)[2], strings.Replace(three(wide)[3], "T11:20:00Z", "T11:20:09Z", 1)}},
		"one domain":                 {manifests: append(three(even), a)},
		"a domain of no pod's nodes": {manifests: append(three("nodeSelector: {zone: east}, "+even), a, b)},
		"a newer domain":             {manifests: append(three(even), a, strings.Replace(b, "{name: b", "{creationTimestamp: 2026-01-01T11:20:00Z, name: b", 1))},
		"of another size":            {manifests: append(three(even)[1:], set(4, "generation: 1", ""), a, b)},
		"scaled":                     {manifests: append(three(even)[1:], set(3, "generation: 2", ""), a, b)},
		"changed":                    {manifests: append(three(even), a, b), written: "replicasets/default/web"},
		"a domain that changed":      {manifests: append(three(even), a, b), written: "nodes/b"},
		"one was deleted":            {manifests: append(three(even), a, b), written: "pods/default/web-0"},
		"one was deleted elsewhere":  {manifests: append(three(even), a, b), written: "pods/other/web-0", want: []string{uneven}},
		"one of another":             {manifests: append(three(even), a, b, podOn("b", "web-4", "app: web", ""))},
		"taints":                     {manifests: append(three(strings.Replace(even, "maxSkew", "nodeTaintsPolicy: Honor, maxSkew", 1)), a, b)},
		"keys":                       {manifests: append(three(strings.Replace(even, "maxSkew", "matchLabelKeys: [rev], maxSkew", 1)), a, b)},
		"a later revision": {manifests: append(three(even)[1:], a, b, "kind: Deployment\nmetadata: {name: web}",
			set(3, "ownerReferences: [{kind: Deployment, name: web}], annotations: {deployment.kubernetes.io/revision: '2'}", ""))},
		"the first revision": {manifests: append(three(even)[1:], a, b, "kind: Deployment\nmetadata: {name: web}",
			set(3, "ownerReferences: [{kind: Deployment, name: web}], annotations: {deployment.kubernetes.io/revision: '1'}", "")), want: []string{uneven}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, append(test.manifests, wholeCluster)...)
			s.Written[test.written] = test.written != ""
			if diff := cmp.Diff(test.want, breachesOf(s, placedRight)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
