package rest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestKeepsPods(t *testing.T) {
	t.Parallel()
	of := func(kind, meta string) string { return workload(kind, "web", meta, "replicas: 1", "") }
	pod := func(kind, name, meta, status string) string {
		return manifest("Pod", name, "labels: {app: web}, ownerReferences: [{kind: "+kind+", name: web}], "+meta, "spec: {nodeName: a}\nstatus: {"+status+"}")
	}
	set := of("ReplicaSet", "generation: 1")
	old, next := pod("ReplicaSet", "old", "", isReady), pod("ReplicaSet", "next", "", isReady)
	evicted := pod("ReplicaSet", "old", isGoing, "conditions: [{type: DisruptionTarget, status: 'True'}]")
	elsewhere := pod("ReplicaSet", "old", "namespace: other", isReady)
	rest := happening{"settle", record.Settled{}}
	answered := func(object string) happening {
		return happening{"step", record.APIAnswer{Object: object, Code: http.StatusOK}}
	}
	link := record.LinkFault{Path: record.AnyPath, Verb: "watch", Resource: "pods", Stale: true}
	began, ended := happening{"a->b", record.FaultBegan{Fault: link}}, happening{"a->b", record.FaultEnded{Fault: link}}
	replaced := func(kind string) []any {
		return []any{of(kind, ""), pod(kind, "old", "", isReady), rest, "gone " + pod(kind, "old", "", isReady), pod(kind, "next", "", isReady)}
	}
	breach := []string{"replicasets/default/web: pod old ran, and is gone"}
	other := func(kind string) []string { return []string{strings.Replace(breach[0], "replicasets", kind, 1)} }
	for name, test := range map[string]struct {
		entries []any
		want    []string
	}{
		"it runs on":                   {entries: []any{set, old, rest}},
		"it is replaced":               {[]any{set, old, rest, "gone " + old, next}, breach},
		"it is gone":                   {[]any{set, old, rest, "gone " + old}, breach},
		"it goes":                      {[]any{set, old, rest, pod("ReplicaSet", "old", isGoing, isReady), next}, breach},
		"another one has its name":     {[]any{set, old, rest, "gone " + old, pod("ReplicaSet", "old", "uid: next", isReady)}, breach},
		"it was changed":               {entries: []any{set, old, rest, pod("ReplicaSet", "old", "annotations: {a: b}", isUnready)}},
		"of a StatefulSet":             {replaced("StatefulSet"), other("statefulsets")},
		"of a DaemonSet":               {replaced("DaemonSet"), other("daemonsets")},
		"of a Job":                     {entries: replaced("Job")},
		"a client deleted it":          {entries: []any{set, old, rest, answered("pods/default/old"), "gone " + old, next}},
		"a client deleted another one": {[]any{set, old, rest, answered("pods/default/next"), "gone " + old}, breach},
		"a client wrote it before":     {[]any{set, old, answered("pods/default/old"), rest, "gone " + old}, breach},
		"a client wrote its node":      {entries: []any{set, old, rest, answered("nodes/a"), "gone " + old}},
		"a client wrote another node":  {[]any{set, old, rest, answered("nodes/b"), "gone " + old}, breach},

		"its owner was changed":     {entries: []any{set, old, rest, of("ReplicaSet", "generation: 2"), "gone " + old, next}},
		"its owner was changed ago": {[]any{set, of("ReplicaSet", "generation: 2"), old, rest, "gone " + old, next}, breach},
		"its owner has a label":     {[]any{set, old, rest, of("ReplicaSet", "generation: 1, labels: {a: b}"), "gone " + old, next}, breach},
		"its owner was made again":  {entries: []any{set, old, rest, "gone " + set, of("ReplicaSet", "generation: 1, uid: next"), "gone " + old}},
		"its owner goes":            {entries: []any{set, old, rest, of("ReplicaSet", "generation: 1, "+isGoing), "gone " + old}},
		"its owner is gone":         {entries: []any{set, old, rest, "gone " + set, "gone " + old}},

		"it was not ready":              {entries: []any{set, pod("ReplicaSet", "old", "", isUnready), rest, "gone " + old, next}},
		"it had ended":                  {entries: []any{set, pod("ReplicaSet", "old", "", hasFailed), rest, "gone " + old, next}},
		"it went":                       {entries: []any{set, pod("ReplicaSet", "old", isGoing, isReady), rest, "gone " + old, next}},
		"it ended since":                {entries: []any{set, old, rest, pod("ReplicaSet", "old", "", hasFailed), "gone " + old, next}},
		"it was evicted":                {entries: []any{set, old, rest, evicted, "gone " + old}},
		"it was not evicted":            {[]any{set, old, rest, strings.Replace(evicted, "'True'", "'False'", 1), "gone " + old}, breach},
		"an older one of its name was":  {[]any{set, pod("ReplicaSet", "old", "uid: older", hasFailed), old, rest, "gone " + old}, breach},
		"one of another namespace goes": {entries: []any{set, old, rest, elsewhere, "gone " + elsewhere}},

		"there was a fault since":         {entries: []any{set, old, rest, began, "gone " + old, ended}},
		"there was a fault at rest":       {entries: []any{set, old, began, rest, ended, "gone " + old}},
		"there was a fault before":        {[]any{began, ended, set, old, rest, "gone " + old}, breach},
		"nothing was at rest before":      {entries: []any{set, old, "gone " + old, next}},
		"something was not at rest":       {entries: []any{set, old, happening{"settle", record.Settled{Restless: []string{"pods/default/old"}}}, "gone " + old, next}},
		"another namespace was not":       {[]any{set, old, happening{"settle", record.Settled{Restless: []string{"pods/other/old"}}}, "gone " + old, next}, breach},
		"it was gone at the last rest":    {entries: []any{set, old, rest, "gone " + old, next, rest}},
		"it is not there since that rest": {[]any{set, old, rest, rest, "gone " + old, next}, breach},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateAfter(historyOf(t, test.entries...)), keepsPods)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStaysRunning(t *testing.T) {
	const always, app = "restartPolicy: Always", "containers: [{name: app}]"
	pod := func(meta, spec, status string) []string {
		return []string{manifest("Pod", "web", meta, "spec: {"+spec+"}\nstatus: {"+status+"}")}
	}
	const succeeded = "phase: Succeeded, reason: Preempting"
	breach := []string{`pods/default/web: restartPolicy Always; reason "Preempting"`}
	judge(t, staysRunning, map[string]judged{
		"it has succeeded":              {pod("", always+", "+app, succeeded), breach},
		"it does not say why":           {pod("", always+", "+app, "phase: Succeeded"), []string{`pods/default/web: restartPolicy Always; reason ""`}},
		"it has failed":                 {manifests: pod("", always+", "+app, "phase: Failed, reason: Preempting")},
		"it runs":                       {manifests: pod("", always+", "+app, isReady)},
		"it goes":                       {manifests: pod(isGoing, always+", "+app, succeeded)},
		"it restarts on failure":        {manifests: pod("", "restartPolicy: OnFailure, "+app, succeeded)},
		"it never restarts":             {manifests: pod("", "restartPolicy: Never, "+app, succeeded)},
		"a container has its own rule":  {manifests: pod("", always+", containers: [{name: app}, {name: once, restartPolicy: Never}]", succeeded)},
		"it has a container that helps": {pod("", always+", initContainers: [{name: log, restartPolicy: Always}], "+app, succeeded), breach},
	})
}
