package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestStartsInOrder(t *testing.T) {
	t.Parallel()
	const probe = "startupProbe: {exec: {command: [test, -f, /up]}}"
	shown := func(meta, probe, restarts, id, more string) string {
		return manifest("Pod", "web", meta, "spec: {containers: [{name: app, "+probe+"}]}\n"+
			"status: {containerStatuses: [{name: app, restartCount: "+restarts+", containerID: "+id+", "+more+"}]}")
	}
	const running, up = "started: false, state: {running: {}}", "started: true, state: {running: {}}"
	pod := func(restarts int, more string) string {
		return shown("", probe, fmt.Sprint(restarts), fmt.Sprintf("skewrig://%d", restarts), more)
	}
	const app = "default/web/app"
	start := func(restarts int) happening {
		return happening{app, record.ContainerStarted{ID: fmt.Sprint(restarts), Attempt: uint32(restarts)}} //nolint:gosec // they are few
	}
	ran := func(container string, code int32, err string, args ...string) happening {
		return happening{container, record.Exec{Args: args, ExitCode: code, Error: err}}
	}
	good := ran(app, 0, "", "test", "-f", "/up")
	breach := []string{"pods/default/web: container app had started: true in restart 1, and its startup probe was not good since that began"}
	lost := func(from, to time.Duration, of string) happening {
		return happening{of, record.ObservationLost{Kinds: []string{record.Exec{}.EventKind()}, Since: restAt.Add(-from), Resumed: to > 0}}
	}
	first := []any{pod(0, running), start(0), good, pod(0, up)}
	again := func(then ...any) []any { return append(append([]any{}, first...), then...) }
	sidecar := strings.NewReplacer("containers:", "initContainers:", "containerStatuses", "initContainerStatuses")
	elsewhere := strings.NewReplacer("{name: web,", "{namespace: other, name: web,")
	for name, test := range map[string]struct {
		entries []any
		want    []string
	}{
		"once its probe was good":          {entries: again(start(1), pod(1, running), good, pod(1, up))},
		"before":                           {again(start(1), pod(1, running), pod(1, up), good), breach},
		"it was good in another container": {again(good, start(1), pod(1, up)), breach},
		"and is not any more":              {again(start(1), pod(1, up), good, pod(1, up), start(2), good, pod(2, up)), breach},
		"it was not good":                  {again(start(1), ran(app, 1, "", "test", "-f", "/up"), pod(1, up)), breach},
		"it was given up":                  {again(start(1), ran(app, 0, "timeout", "test", "-f", "/up"), pod(1, up)), breach},
		"another command was good":         {again(start(1), ran(app, 0, "", "test", "-f", "/live"), pod(1, up)), breach},
		"that of another was good":         {again(start(1), ran("default/web/other", 0, "", "test", "-f", "/up"), pod(1, up)), breach},
		"that of another pod was good":     {again(start(1), ran("other/web/app", 0, "", "test", "-f", "/up"), pod(1, up)), breach},
		"in its first life":                {entries: []any{start(0), pod(0, up)}},
		"it has not started":               {entries: again(start(1), pod(1, running))},
		"it does not say so":               {entries: again(start(1), pod(1, "state: {running: {}}"))},
		"it does not run":                  {entries: again(start(1), pod(1, "started: true, state: {waiting: {}}"))},
		"it is not known to have begun":    {entries: again(pod(1, up))},
		"another runtime's":                {entries: again(start(1), shown("", probe, "1", "containerd://1", up))},
		"without a container":              {entries: again(start(1), shown("", probe, "1", "''", up))},
		"without a probe":                  {entries: again(start(1), shown("", "readinessProbe: {exec: {command: [test, -f, /up]}}", "1", "skewrig://1", up))},
		"with a probe of another kind":     {entries: again(start(1), shown("", "startupProbe: {tcpSocket: {port: 80}}", "1", "skewrig://1", up))},
		"with a variable in its probe":     {entries: again(start(1), ran(app, 0, "", "test", "-f", "/up"), shown("", strings.Replace(probe, "/up", "$(FILE)", 1), "1", "skewrig://1", up))},
		"it is a sidecar":                  {again(start(1), sidecar.Replace(pod(1, up))), breach},
		"it is gone":                       {entries: again(start(1), pod(1, up), "gone "+pod(1, up))},
		"an older pod of its name":         {entries: again(start(1), shown("uid: old", "", "1", "skewrig://1", up), "gone "+shown("uid: old", "", "1", "skewrig://1", up), pod(0, running), start(2), good, pod(0, up))},
		"a pod of another namespace":       {entries: again(start(1), pod(1, running), good, pod(1, up), elsewhere.Replace(pod(1, up)))},
		"probes are lost ever since":       {entries: again(start(1), pod(1, up), lost(time.Hour, 0, ""))},
		"its probes are lost":              {entries: again(start(1), lost(150*time.Second, 1, app), pod(1, up))},
		"those of another are lost":        {again(start(1), lost(150*time.Second, 1, "default/web/other"), pod(1, up)), breach},
		"they were lost before":            {append([]any{lost(2*time.Hour, 1, app)}, again(start(1), pod(1, up))...), breach},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateAfter(historyOf(t, test.entries...)), startsInOrder)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadyInOrder(t *testing.T) {
	t.Parallel()
	const probe, startup = "readinessProbe: {exec: {command: [test, -f, /ready]}}", "startupProbe: {exec: {command: [test, -f, /up]}}"
	shown := func(probe string, restarts int, more string) string {
		return manifest("Pod", "web", "", "spec: {containers: [{name: app, "+probe+"}]}\n"+
			fmt.Sprintf("status: {containerStatuses: [{name: app, restartCount: %d, containerID: skewrig://%d, %s}]}", restarts, restarts, more))
	}
	const running, ready = "started: true, ready: false, state: {running: {}}", "started: true, ready: true, state: {running: {}}"
	pod := func(restarts int, more string) string { return shown(probe, restarts, more) }
	const app = "default/web/app"
	start := func(restarts int) happening {
		return happening{app, record.ContainerStarted{ID: fmt.Sprint(restarts), Attempt: uint32(restarts)}} //nolint:gosec // they are few
	}
	ran := func(code int32, file string) happening {
		return happening{app, record.Exec{Args: []string{"test", "-f", file}, ExitCode: code}}
	}
	good := ran(0, "/ready")
	breach := []string{"pods/default/web: container app had ready: true in restart 1, and its readiness probe was not good since that began"}
	again := func(then ...any) []any { return append([]any{pod(0, running), start(0), good, pod(0, ready)}, then...) }
	kubelet := happening{"kubelet/a", record.ComponentStarted{}}
	sidecar := strings.NewReplacer("containers:", "initContainers:", "containerStatuses", "initContainerStatuses")
	for name, test := range map[string]struct {
		entries []any
		want    []string
	}{
		"once its probe was good":          {entries: again(start(1), pod(1, running), good, pod(1, ready))},
		"before":                           {again(start(1), pod(1, running), pod(1, ready), good), breach},
		"it was good in another container": {again(good, start(1), pod(1, ready)), breach},
		"and is not any more":              {again(start(1), pod(1, ready), pod(1, running)), breach},
		"it was not good":                  {again(start(1), ran(1, "/ready"), pod(1, ready)), breach},
		"it was good once":                 {entries: again(start(1), good, pod(1, ready), ran(1, "/ready"), pod(1, running))},
		"another command was good":         {again(start(1), ran(0, "/live"), pod(1, ready)), breach},
		"its startup probe was good":       {again(shown(probe+", "+startup, 0, ready), start(1), ran(0, "/up"), shown(probe+", "+startup, 1, ready)), breach},
		"both probes were good":            {entries: again(start(1), ran(0, "/up"), good, shown(probe+", "+startup, 1, ready))},
		"in its first life":                {entries: []any{start(0), pod(0, ready)}},
		"it is not ready":                  {entries: again(start(1), pod(1, running))},
		"it does not run":                  {entries: again(start(1), pod(1, "ready: true, state: {waiting: {}}"))},
		"it is not known to have begun":    {entries: again(pod(1, ready))},
		"without a probe":                  {entries: again(start(1), shown("", 1, ready))},
		"with a startup probe only":        {entries: again(start(1), ran(0, "/up"), shown(startup, 1, ready))},
		"with a probe of another kind":     {entries: again(start(1), shown("readinessProbe: {tcpSocket: {port: 80}}", 1, ready))},
		"it is a sidecar":                  {again(start(1), sidecar.Replace(pod(1, ready))), breach},
		"its kubelet starts again":         {entries: again(start(1), good, pod(1, ready), kubelet, pod(1, running), pod(1, ready))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, breachesOf(stateAfter(historyOf(t, test.entries...)), readyInOrder)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
