package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestFollowsTemplate(t *testing.T) {
	t.Parallel()
	of := func(kind string) string {
		return manifest(kind, "web", "", "spec: {template: {metadata: {labels: {app: web}, annotations: {port: '80'}}}}")
	}
	set := of("ReplicaSet")
	made := func(kind, name, labels, meta string) string {
		return manifest("Pod", name, "labels: {app: web, "+labels+"}, annotations: {port: '80'}, ownerReferences: [{kind: "+kind+", name: web}], "+meta, "")
	}
	extra := made("ReplicaSet", "web-1", "extra: x", "")
	hasMore := []string{"pods/default/web-1: it has the label extra, which the template of replicasets/default/web has not"}
	answered := func(object string, code int) happening {
		return happening{"step", record.APIAnswer{Object: object, Code: code}}
	}
	for name, test := range map[string]struct {
		entries []any
		want    []string
	}{
		"as the template":      {entries: []any{set, made("ReplicaSet", "web-1", "", "")}},
		"a label more":         {[]any{set, extra}, hasMore},
		"an annotation more":   {[]any{set, strings.Replace(made("ReplicaSet", "web-1", "", ""), "annotations: {", "annotations: {extra: x, ", 1)}, []string{strings.Replace(hasMore[0], "label", "annotation", 1)}},
		"of a StatefulSet":     {[]any{of("StatefulSet"), made("StatefulSet", "web-1", "extra: x, apps.kubernetes.io/pod-index: '1'", "")}, []string{strings.Replace(hasMore[0], "replicasets", "statefulsets", 1)}},
		"of a DaemonSet":       {[]any{of("DaemonSet"), made("DaemonSet", "web-1", "extra: x, pod-template-generation: '1', controller-revision-hash: a", "")}, []string{strings.Replace(hasMore[0], "replicasets", "daemonsets", 1)}},
		"of a Job":             {[]any{of("Job"), made("Job", "web-1", "extra: x, job-name: web, controller-uid: a", "")}, []string{strings.Replace(hasMore[0], "replicasets", "jobs", 1)}},
		"those of controllers": {entries: []any{set, made("ReplicaSet", "web-1", "pod-template-hash: a, topology.kubernetes.io/zone: a", "")}},
		"it goes":              {entries: []any{set, made("ReplicaSet", "web-1", "extra: x", isGoing)}},
		"a client changed it":  {entries: []any{set, extra, answered("pods/default/web-1", http.StatusOK)}},
		"a client changed its owner": {
			entries: []any{set, extra, answered("replicasets/default/web", http.StatusOK)},
		},
		"a client was refused":      {[]any{set, extra, answered("pods/default/web-1", http.StatusConflict)}, hasMore},
		"a client made it":          {entries: []any{answered("pods/default/web-1", http.StatusCreated), extra, set}},
		"a client made another one": {[]any{answered("pods/default/web-2", http.StatusCreated), extra, set}, hasMore},
		"of another namespace":      {entries: []any{set, made("ReplicaSet", "web-1", "extra: x", "namespace: other")}},
		"of no owner":               {entries: []any{set, manifest("Pod", "web-1", "labels: {extra: x}", "")}},
		"no template":               {entries: []any{"kind: ReplicaSet\nmetadata: {name: web}", extra}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateAfter(historyOf(t, test.entries...)), followsTemplate)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// waitingOn is a pod on node a whose container app waits for a reason, with more of its status.
func waitingOn(reason, spec, more string) string {
	return manifest("Pod", "web", "", "spec: {nodeName: a, containers: [{name: app, "+spec+"}]}\n"+
		"status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: "+reason+", message: m}}}], "+more+"}")
}

func TestStarts(t *testing.T) {
	a := nodeNamed("a", "", "", "")
	const reason = "CreateContainerConfigError"
	breach := []string{"pods/default/web: container app waits: " + reason + ": m"}
	reads := func(from string) string { return waitingOn(reason, from, "") }
	one := func(kind, more string) string {
		return reads("env: [{name: A, valueFrom: {" + kind + "KeyRef: {name: kept, key: k" + more + "}}}]")
	}
	all := func(kind, more string) string { return reads("envFrom: [{" + kind + "Ref: {name: kept" + more + "}}]") }
	kept := func(kind, meta, data string) string { return manifest(kind, "kept", meta, data) }
	const full = "data: {k: dg==}"
	config, secret := kept("ConfigMap", "", full), kept("Secret", "", full)
	elsewhere := "namespace: other"

	initial := func(spec, status string) string {
		return manifest("Pod", "web", "", "spec: {nodeName: a, initContainers: [{name: init, "+spec+"}]}\nstatus: {phase: Pending, initContainerStatuses: [{name: init, "+status+"}], "+
			"containerStatuses: [{name: app, state: {waiting: {reason: PodInitializing}}}]}")
	}
	const sidecar = "restartPolicy: Always"
	initialized := []string{"pods/default/web: container app waits for init containers, which have all done their work"}

	judge(t, starts, map[string]judged{
		"it refers to nothing":    {[]string{a, reads("")}, breach},
		"another reason":          {manifests: []string{a, waitingOn("ImagePullBackOff", "", "")}},
		"it can't be run":         {manifests: []string{a, waitingOn("RunContainerError", "", "")}},
		"it can't be created":     {[]string{a, waitingOn("CreateContainerError", "", "")}, []string{strings.Replace(breach[0], reason, "CreateContainerError", 1)}},
		"a node that is not so":   {manifests: []string{strings.Replace(a, "'True'", "Unknown", 1), reads("")}},
		"a node that is gone":     {manifests: []string{reads("")}},
		"it has failed":           {manifests: []string{a, strings.Replace(reads(""), "Pending", "Failed", 1)}},
		"it goes":                 {manifests: []string{a, strings.Replace(reads(""), "{name: web", "{"+isGoing+", name: web", 1)}},
		"no root user":            {manifests: []string{a, reads("securityContext: {runAsNonRoot: true}")}},
		"no root user in the pod": {manifests: []string{a, strings.Replace(reads(""), "nodeName: a", "securityContext: {runAsNonRoot: true}, nodeName: a", 1)}},
		"a root user":             {[]string{a, reads("securityContext: {runAsNonRoot: false}")}, breach},
		"a part of a volume":      {manifests: []string{a, reads("volumeMounts: [{name: v, mountPath: /v, subPathExpr: $(NAME)}]")}},

		"a key of a ConfigMap":                 {[]string{a, config, one("configMap", "")}, breach},
		"no ConfigMap":                         {manifests: []string{a, one("configMap", "")}},
		"no ConfigMap in its namespace":        {manifests: []string{a, kept("ConfigMap", elsewhere, full), one("configMap", "")}},
		"no ConfigMap, which is optional":      {[]string{a, one("configMap", ", optional: true")}, breach},
		"no ConfigMap, which is not so":        {manifests: []string{a, one("configMap", ", optional: false")}},
		"no key of a ConfigMap":                {manifests: []string{a, kept("ConfigMap", "", "data: {other: v}"), one("configMap", "")}},
		"no key, which is optional":            {[]string{a, kept("ConfigMap", "", "data: {other: v}"), one("configMap", ", optional: true")}, breach},
		"a key of a ConfigMap that is empty":   {[]string{a, kept("ConfigMap", "", "data: {k: ''}"), one("configMap", "")}, breach},
		"a key of a ConfigMap that is binary":  {manifests: []string{a, kept("ConfigMap", "", "binaryData: {k: dg==}"), one("configMap", "")}},
		"all of a ConfigMap":                   {[]string{a, config, all("configMap", "")}, breach},
		"all of none":                          {manifests: []string{a, all("configMap", "")}},
		"all of none, which is optional":       {[]string{a, all("configMap", ", optional: true")}, breach},
		"a key of a Secret":                    {[]string{a, secret, one("secret", "")}, breach},
		"no Secret":                            {manifests: []string{a, config, one("secret", "")}},
		"no key of a Secret":                   {manifests: []string{a, kept("Secret", "", "data: {other: dg==}"), one("secret", "")}},
		"no Secret, which is optional":         {[]string{a, one("secret", ", optional: true")}, breach},
		"all of a Secret":                      {[]string{a, secret, all("secret", "")}, breach},
		"all of no Secret":                     {manifests: []string{a, config, all("secret", "")}},
		"all of no Secret, which is optional":  {[]string{a, all("secret", ", optional: true")}, breach},
		"a field":                              {[]string{a, reads("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: v}]")}, breach},
		"a key of a file":                      {manifests: []string{a, reads("env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]")}},
		"a key of a file, which is optional":   {[]string{a, reads("env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k, optional: true}}}]")}, breach},
		"no ConfigMap for its init containers": {manifests: []string{a, strings.Replace(strings.Replace(all("configMap", ""), "containers:", "initContainers:", 1), "containerStatuses", "initContainerStatuses", 1)}},

		"it is initialized":                {[]string{a, initial("", "state: {terminated: {exitCode: 0}}")}, initialized},
		"its init container runs":          {manifests: []string{a, initial("", "started: true, state: {running: {}}")}},
		"its init container failed":        {manifests: []string{a, initial("", "state: {terminated: {exitCode: 1}}")}},
		"its init container waits":         {manifests: []string{a, initial("", "state: {waiting: {reason: CrashLoopBackOff}}")}},
		"its sidecar has started":          {[]string{a, initial(sidecar, "started: true, state: {running: {}}")}, initialized},
		"its sidecar has not started":      {manifests: []string{a, initial(sidecar, "started: false, state: {running: {}}")}},
		"its sidecar is not known to":      {manifests: []string{a, initial(sidecar, "state: {running: {}}")}},
		"its sidecar is down":              {manifests: []string{a, initial(sidecar, "started: true, state: {waiting: {reason: CrashLoopBackOff}}")}},
		"another container is initialized": {manifests: []string{a, strings.Replace(initial("", "state: {terminated: {exitCode: 0}}"), "{waiting: {reason: PodInitializing}}", "{running: {}}", 1)}},
	})
}

// TestStartsLater: a kubelet is given the time to look at a pod again.
func TestStartsLater(t *testing.T) {
	t.Parallel()
	a := "90 " + nodeNamed("a", "", "", "")
	pod := waitingOn("CreateContainerConfigError", "env: [{name: A, valueFrom: {secretKeyRef: {name: kept, key: k}}}]", "")
	const kept = "kind: Secret\nmetadata: {name: kept}\ndata: {k: dg==}"
	empty := strings.Replace(kept, "{k: dg==}", "{}", 1)
	for name, test := range map[string]struct {
		entries []string
		sticks  bool
	}{
		"before the pod":              {[]string{a, "6 " + kept, "5 " + pod}, true},
		"a while after the pod":       {[]string{a, "60 " + pod, "20 " + kept}, true},
		"just after the pod":          {[]string{a, "60 " + pod, "19 " + kept}, false},
		"the key came just after it":  {[]string{a, "70 " + empty, "60 " + pod, "19 " + kept}, false},
		"before a pod of that name":   {[]string{a, "80 " + strings.Replace(pod, "{name: web", "{uid: old, name: web", 1), "6 " + kept, "5 " + pod}, true},
		"the pod was written since":   {[]string{a, "70 " + pod, "60 " + kept, "5 " + pod}, true},
		"it came, and the pod waited": {[]string{a, "60 " + pod, "19 " + kept, "5 " + pod}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := breachesOf(recorded(t, test.entries...), starts); (len(got) > 0) != test.sticks {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestCountsBudget(t *testing.T) {
	budget := func(meta, spec, status string) string {
		return manifest("PodDisruptionBudget", "web", meta, "spec: {selector: {matchLabels: {app: web}}, "+spec+"}\nstatus: {"+status+"}")
	}
	one := func(name, meta, status string) string {
		return manifest("Pod", name, "labels: {app: web}, "+meta, "status: {"+status+"}")
	}
	pods := []string{one("a", "", isReady), one("b", "", isUnready), manifest("Pod", "c", "labels: {app: other}", "status: {"+isReady+"}"), one("d", "namespace: other", isReady)}
	const atLeast = "minAvailable: 2"
	const right, wrong = "expectedPods: 2, currentHealthy: 1, desiredHealthy: 2", "expectedPods: 1, currentHealthy: 0, desiredHealthy: 1"
	breach := []string{"poddisruptionbudgets/default/web: status.expectedPods is 1, and 2 are so; status.currentHealthy is 0, and 1 are so; status.desiredHealthy is 1, and 2 are so"}
	judge(t, countsBudget, map[string]judged{
		"it is right":               {manifests: with(pods, budget("", atLeast, right))},
		"it is wrong":               {with(pods, budget("", atLeast, wrong)), breach},
		"it has none":               {manifests: []string{budget("", "minAvailable: 0", "expectedPods: 0, currentHealthy: 0, desiredHealthy: 0")}},
		"it has a percentage":       {manifests: with(pods, budget("", "minAvailable: 50%", wrong))},
		"it has a maximum":          {manifests: with(pods, budget("", "maxUnavailable: 1", wrong))},
		"about another spec":        {manifests: with(pods, budget("generation: 2", atLeast, "observedGeneration: 1, "+wrong))},
		"about this spec":           {with(pods, budget("generation: 2", atLeast, "observedGeneration: 2, "+wrong)), breach},
		"while a pod goes":          {manifests: with(pods, budget("", atLeast, wrong), one("going", isGoing, isReady))},
		"a pod has failed":          {manifests: with(pods, budget("", atLeast, wrong), one("failed", "", hasFailed))},
		"a pod elsewhere has":       {with(pods, budget("", atLeast, wrong), one("failed", "namespace: other", hasFailed)), breach},
		"a pod is to be evicted":    {manifests: with(pods, budget("", atLeast, "disruptedPods: {a: 2026-01-01T11:59:59Z}, "+wrong))},
		"it selects nothing":        {manifests: with(pods, strings.Replace(budget("", atLeast, "desiredHealthy: 2"), "selector: {matchLabels: {app: web}}", "selector: null", 1))},
		"it selects all":            {manifests: with(pods, strings.Replace(budget("", atLeast, "expectedPods: 3, currentHealthy: 2, desiredHealthy: 2"), "matchLabels: {app: web}", "", 1))},
		"it should select all":      {with(pods, strings.Replace(budget("", atLeast, right), "matchLabels: {app: web}", "", 1)), []string{"poddisruptionbudgets/default/web: status.expectedPods is 2, and 3 are so; status.currentHealthy is 1, and 2 are so"}},
		"it should select nothing":  {with(pods, strings.Replace(budget("", atLeast, right), "selector: {matchLabels: {app: web}}", "selector: null", 1)), []string{"poddisruptionbudgets/default/web: status.expectedPods is 2, and 0 are so; status.currentHealthy is 1, and 0 are so"}},
		"a selector that is broken": {manifests: with(pods, strings.Replace(budget("", atLeast, "desiredHealthy: 2"), "matchLabels: {app: web}", "matchExpressions: [{key: app, operator: Like}]", 1))},
	})
}

func TestIsGone(t *testing.T) {
	going := func(kind, meta, more string) string { return manifest(kind, "old", isGoing+", "+meta, more) }
	finalizers := func(all string) string { return "finalizers: [" + all + "]" }
	said := func(key, all string) string {
		return key + ": it should be gone for 30 s; finalizers [" + all + "]"
	}
	const config, set = "configmaps/default/old", "replicasets/default/old"
	a := nodeNamed("a", "", "", "")
	onA := "spec: {nodeName: a}"
	claim := going("PersistentVolumeClaim", finalizers("kubernetes.io/pvc-protection"), "")
	volume := going("PersistentVolume", finalizers("kubernetes.io/pv-protection"), "")
	foreground := going("ReplicaSet", finalizers("foregroundDeletion"), "")
	dependent := func(meta string) string {
		return manifest("ConfigMap", "dependent", "ownerReferences: [{kind: ReplicaSet, name: old, controller: false}], "+meta, "")
	}
	namespace := strings.Replace(going("Namespace", "", ""), "name: old", "name: ending", 1)
	judge(t, isGone, map[string]judged{
		"it is there":                       {manifests: []string{"kind: ConfigMap\nmetadata: {name: old}"}},
		"it should be gone":                 {[]string{going("ConfigMap", "", "")}, []string{said(config, "")}},
		"it may take some time":             {manifests: []string{strings.Replace(going("ConfigMap", "", ""), "11:59:30", "11:59:46", 1)}},
		"a foreign finalizer":               {manifests: []string{going("ConfigMap", finalizers("example.com/mine"), "")}},
		"one of Kubernetes":                 {[]string{going("ConfigMap", finalizers("kubernetes.io/own"), "")}, []string{said(config, "kubernetes.io/own")}},
		"one of Kubernetes beside":          {manifests: []string{going("ConfigMap", finalizers("kubernetes.io/own, example.com/mine"), "")}},
		"dependents are to be left":         {[]string{going("ConfigMap", finalizers("orphan"), "")}, []string{said(config, "orphan")}},
		"a resource that is not looked at":  {manifests: []string{going("Widget", "", "")}},
		"a pod on a node":                   {[]string{a, going("Pod", "", onA)}, []string{said("pods/default/old", "")}},
		"a pod on a node that is not ready": {manifests: []string{strings.Replace(a, "'True'", "'False'", 1), going("Pod", "", onA)}},
		"a pod on a node that is gone":      {manifests: []string{going("Pod", "", onA)}},

		"a claim":                    {[]string{claim}, []string{said("persistentvolumeclaims/default/old", "kubernetes.io/pvc-protection")}},
		"a claim that may be used":   {manifests: []string{claim, podOn("b", "web", "", "")}},
		"a claim, a pod elsewhere":   {[]string{claim, manifest("Pod", "web", "namespace: other", "")}, []string{said("persistentvolumeclaims/default/old", "kubernetes.io/pvc-protection")}},
		"devices that may be used":   {manifests: []string{going("ResourceClaim", finalizers("resource.kubernetes.io/delete-protection"), ""), podOn("b", "web", "", "")}},
		"devices":                    {[]string{going("ResourceClaim", "", "")}, []string{said("resourceclaims/default/old", "")}},
		"a volume":                   {[]string{volume}, []string{said("persistentvolumes/old", "kubernetes.io/pv-protection")}},
		"a volume that may be used":  {manifests: []string{volume, "kind: PersistentVolumeClaim\nmetadata: {name: data}"}},
		"a namespace":                {[]string{strings.Replace(namespace, "T11:59:30Z", "T11:58:30Z", 1)}, []string{"namespaces/ending: it should be gone for 90 s; finalizers []"}},
		"a namespace that may go":    {manifests: []string{namespace}},
		"a namespace with an object": {manifests: []string{namespace, "kind: ConfigMap\nmetadata: {name: c, namespace: ending}"}},
		"a namespace with a foreign": {manifests: []string{namespace, "kind: Widget\nmetadata: {name: c, namespace: ending}"}},

		"after what it owns":               {[]string{foreground}, []string{said(set, "foregroundDeletion")}},
		"after what it owns that waits":    {manifests: []string{foreground, dependent(isGoing + ", " + finalizers("example.com/mine"))}},
		"after what it owns that should":   {[]string{foreground, dependent(isGoing)}, []string{"configmaps/default/dependent: it should be gone for 30 s; finalizers []"}},
		"after what it owns that stays":    {[]string{foreground, dependent("")}, []string{said(set, "foregroundDeletion")}},
		"after what is not its own":        {[]string{foreground, dependent("namespace: other, " + isGoing + ", " + finalizers("example.com/mine"))}, []string{said(set, "foregroundDeletion")}},
		"before what it owns":              {[]string{going("ReplicaSet", "", ""), dependent(isGoing + ", " + finalizers("example.com/mine"))}, []string{said(set, "")}},
		"after what it owns, of a cluster": {manifests: []string{going("DeviceClass", finalizers("foregroundDeletion"), ""), manifest("ConfigMap", "c", isGoing+", "+finalizers("example.com/mine")+", ownerReferences: [{kind: DeviceClass, name: old}]", "")}},
	})
}

func TestAcceptsStored(t *testing.T) {
	t.Parallel()
	const key = "configmaps/default/web"
	const there = "kind: ConfigMap\nmetadata: {name: web}"
	for name, test := range map[string]struct {
		manifest, refusal string
		want              bool
	}{
		"it is accepted":            {there, "", false},
		"it is refused":             {there, "422 data: Invalid value", true},
		"the server fails":          {there, "500 conversion failed", true},
		"it goes":                   {manifest("ConfigMap", "web", isGoing, ""), "422 data: Invalid value", false},
		"it is gone":                {"", "422 data: Invalid value", false},
		"of another namespace":      {"kind: ConfigMap\nmetadata: {name: web, namespace: other}", "422 data: Invalid value", false},
		"a webhook refuses":         {there, `403 admission webhook "w.example.com" denied the request`, false},
		"a webhook does not answer": {there, `500 Internal error occurred: failed calling webhook "w.example.com": EOF`, false},
		"a webhook is not valid":    {there, "422 webhooks[0].sideEffects: Unsupported value", true},
		"a policy refuses":          {there, "422 ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", false},
		"a policy is not valid":     {there, `422 ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid`, true},
		"the server has no time":    {there, "429 too many requests", false},
		"the server is not there":   {there, "503 no endpoints", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(t, test.manifest)
			var want []string
			if test.refusal != "" {
				code, message, _ := strings.Cut(test.refusal, " ")
				refusal := record.Refusal{Object: key, Message: message}
				if _, err := fmt.Sscan(code, &refusal.Code); err != nil {
					t.Fatal(err)
				}
				s.Refused = append(s.Refused, refusal)
			}
			if test.want {
				want = []string{fmt.Sprintf("%s: an annotation is refused: %s", key, test.refusal)}
			}
			if diff := cmp.Diff(want, breachesOf(s, acceptsStored)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
