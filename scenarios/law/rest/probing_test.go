package rest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestIsProbed(t *testing.T) {
	t.Parallel()
	ready := manifest("Node", "node-a", "", "status: {conditions: [{type: Ready, status: 'True'}]}")
	away := manifest("Node", "node-a", "", "status: {conditions: [{type: Ready, status: Unknown}]}")
	pod := func(probe, meta, status string) string {
		return manifest("Pod", "web", meta, "spec: {nodeName: node-a, initContainers: [{name: side, restartPolicy: Always, "+probe+"}]}\n"+
			"status: {phase: Pending, initContainerStatuses: [{name: side, containerID: skewrig://1, "+status+"}]}")
	}
	const probe, slow = "startupProbe: {exec: {command: [test, -f, /up]}, periodSeconds: 1}", "startupProbe: {exec: {command: [test, -f, /up]}, periodSeconds: 100}"
	const waits, up = "started: false, state: {running: {}}", "started: true, state: {running: {}}"
	const side = "default/web/side"
	start := happening{side, record.ContainerStarted{ID: "1"}}
	ran := func(args ...string) happening { return happening{side, record.Exec{Args: args, ExitCode: 1}} }
	failed := ran("test", "-f", "/up")
	lost := happening{side, record.ObservationLost{Kinds: []string{record.Exec{}.EventKind()}, Since: restAt.Add(-90 * time.Second)}}
	breach := []string{"pods/default/web: container side runs and has not started, and its startup probe was not run for 2m0s"}
	for name, test := range map[string]struct {
		entries []any
		want    []string
	}{
		"not run any more":       {[]any{ready, start, failed, pod(probe, "", waits)}, breach},
		"never run":              {[]any{ready, failed, start, pod(probe, "", waits)}, breach},
		"another command is run": {[]any{ready, start, ran("test", "-f", "/live"), pod(probe, "", waits)}, []string{strings.Replace(breach[0], "2m", "3m", 1)}},
		"it has started":         {entries: []any{ready, start, failed, pod(probe, "", up)}},
		"it is rarely run":       {entries: []any{ready, start, failed, pod(slow, "", waits)}},
		"it has no probe":        {entries: []any{ready, start, failed, pod("image: web", "", waits)}},
		"it does not run":        {entries: []any{ready, start, failed, pod(probe, "", "started: false, state: {waiting: {}}")}},
		"the kubelet is away":    {entries: []any{away, start, failed, pod(probe, "", waits)}},
		"it is being deleted":    {entries: []any{ready, start, failed, pod(probe, "deletionTimestamp: \"2026-01-01T11:59:00Z\", ", waits)}},
		"its start is not known": {entries: []any{ready, failed, pod(probe, "", waits)}},
		"runs may be missing":    {entries: []any{ready, start, failed, lost, pod(probe, "", waits)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateAfter(historyOf(t, test.entries...)), isProbed)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
