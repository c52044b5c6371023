package story

import (
	"slices"
	"strings"
)

// kubelets are what containers do while their kubelet is away, starts again, or needs room for others. The pods are on node-a.
func kubelets() (all []Story) {
	const onNode = "{spec: {nodeSelector: {kubernetes.io/hostname: node-a}}}"
	var pods []map[string]any
	for _, s := range containers() {
		pods = append(pods, with(with(s.Objects[0], onNode), "{metadata: {name: %s}}", s.Name))
	}
	// The readiness probe is good in the first life of the container only, and the next one begins while the kubelet is away.
	var once []map[string]any
	for _, policy := range []string{"Always", "OnFailure"} {
		once = append(once, with(object(`{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {restartPolicy: %s, terminationGracePeriodSeconds: 1, volumes: [{name: files, emptyDir: {}}],
  containers: [{name: app, image: "busybox:1", command: [sh, -c, "if [ -f /files/was ]; then rm -f /files/up; sleep 3600; fi; touch /files/was /files/up; sleep 25; exit 1"], volumeMounts: [{name: files, mountPath: /files}],
    readinessProbe: {exec: {command: [test, -f, /files/up]}, periodSeconds: 1, failureThreshold: 1}}]}}`, "ready-once-"+strings.ToLower(policy), policy), onNode))
	}
	const kubelet = "kubelet/node-a"
	restart, cut, heal := Step{"restart": map[string]any{"component": kubelet}}, Step{"cut": map[string]any{"from": kubelet, "how": "reset"}}, Step{"heal": kubelet}
	kill, start := Step{"kill": kubelet}, Step{"start": map[string]any{"component": kubelet}}
	add := func(name string, objects []map[string]any, acts ...Act) {
		all = append(all, Story{Name: name, Alone: true, Objects: objects, Acts: acts})
	}
	add("kubelet-restarted", pods, act("the kubelet restarted", restart), act("restarted again", restart))
	add("kubelet-away", pods, act("the kubelet killed, and started after 25 s", kill, wait(25), start))
	for name, some := range map[string][]map[string]any{"kubelet-cut-off": pods, "kubelet-cut-off-after-ready": once} {
		add(name, some, act("the kubelet cut off for 40 s, and killed and started meanwhile", cut, wait(40), kill, heal, start))
	}
	add("node-reboots", pods, act("node-a rebooted", Step{"reboot": "node-a"}))
	full := with(object("{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {terminationGracePeriodSeconds: 5, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: 600m}}}]}}"), onNode)
	critical := object("{apiVersion: v1, kind: Pod, metadata: {name: critical}, spec: {nodeName: node-a, priorityClassName: system-node-critical, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: 700m}}}]}}")
	add("kubelet-preempts", []map[string]any{full}, act("a critical pod that does not fit beside it", create(critical)))
	return byName(all)
}

// gated are stories with all gates on that a release has off by default.
func gated() (all []Story) {
	for _, s := range slices.Concat(devices(), taintRules(), owners()) {
		s.Gates = map[string]bool{"AllAlpha": true, "AllBeta": true}
		all = append(all, s)
	}
	return all
}
