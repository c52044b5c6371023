package skewtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// recorded is a rig of which there is nothing but the record.
func recorded() *Rig {
	return &Rig{history: record.NewHistory(nil), line: timeline.New(), reported: make(map[string]bool)}
}

func (r *Rig) observed(change, key, object string) {
	parts := strings.Split(key, "/")
	r.history.Append("watch", key, record.ObjectObserved{
		Change: change, Resource: parts[0], Namespace: parts[1], Name: parts[len(parts)-1], Object: json.RawMessage(object),
	})
}

const webApp = "ns/web/app"

// TestMatchers: each matches after something happened, and not before.
func TestMatchers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		matcher Matcher
		of      func(*Rig) any
		before  func(*Rig)
		happens func(*Rig)
		message string // of the failure
	}{
		"a container restarted": {
			matcher: HaveRestarted(), of: container, before: started,
			happens: func(r *Rig) {
				r.history.Append("runtime/node-a", webApp, record.ContainerExited{ExitCode: 2, Reason: "Error", Signal: "SIGTERM"})
				started(r)
			},
			message: "container ns/web/app should have restarted: it has 0 times",
		},
		"a kubelet restarted": {
			matcher: HaveRestarted(), of: func(r *Rig) any { return &Component{r, "kubelet/node-a"} },
			before: kubelet,
			happens: func(r *Rig) {
				r.history.Append("cluster", "kubelet/node-a", record.ComponentStopped{Asked: true})
				kubelet(r)
			},
			message: "kubelet/node-a should have restarted: it has 0 times",
		},
		"a connection": {
			matcher: HaveConnection(TLS), of: container,
			before:  func(r *Rig) { started(r); r.history.Append("server", webApp, record.Connection{First: HTTP2}) },
			happens: func(r *Rig) { r.history.Append("server", webApp, record.Connection{First: TLS}) },
			message: "container ns/web/app should have a connection that begins with tls-client-hello: it has 1 with http2-preface",
		},
		"a probe failed": {
			matcher: HaveFailedProbe(Liveness), of: container,
			before: func(r *Rig) {
				pod(r, "False")
				started(r)
				said(r, "readiness", "Unhealthy", "Readiness probe failed: of another")
				said(r, "warning", "ProbeWarning", "Liveness probe warning: it was redirected")
			},
			happens: func(r *Rig) { said(r, "liveness", "Unhealthy", "Liveness probe failed: refused") },
			message: "container ns/web/app should have failed its liveness probe: the probe was answered well on 0 connections, and the kubelet said 0 times that it failed",
		},
		"a probe passed": {
			matcher: HavePassedProbe(Readiness), of: container,
			before:  func(r *Rig) { pod(r, "False"); started(r); asked(r, 500) },
			happens: func(r *Rig) { asked(r, 200) },
			message: "container ns/web/app should have passed its readiness probe: the probe was answered well on 0 connections, and the kubelet said 0 times that it failed",
		},
		"a pod is ready": {
			matcher: BeReady(), of: func(r *Rig) any { return r.Pod("ns", "web") },
			before:  func(r *Rig) { pod(r, "False") },
			happens: func(r *Rig) { pod(r, "True") },
			message: "pod ns/web should be ready: its condition Ready is False: of its containers",
		},
		"a node is ready": {
			matcher: BeReady(), of: node,
			before:  func(r *Rig) { nodeIs(r, "Unknown") },
			happens: func(r *Rig) { nodeIs(r, "True") },
			message: "node node-a should be ready: its condition Ready is Unknown",
		},
		"a lease was renewed": {
			matcher: HaveRenewedSince(time.Unix(0, 0)), of: node,
			before:  func(r *Rig) { nodeIs(r, "True") },
			happens: func(r *Rig) { renewed(r, 1) },
			message: "node node-a should have renewed its lease since " + time.Unix(0, 0).Format(time.TimeOnly) + ": it never has",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := recorded()
			if is, err := c.matcher.Match(c.of(r)); is || err == nil {
				t.Errorf("what was never seen: %t, %v", is, err)
			}
			c.before(r)
			if is, err := c.matcher.Match(c.of(r)); is || err != nil {
				t.Errorf("before: %t, %v", is, err)
			}
			if got := c.matcher.FailureMessage(c.of(r)); got != c.message {
				t.Errorf("it says %q, want %q", got, c.message)
			}
			c.happens(r)
			if is, err := c.matcher.Match(c.of(r)); !is || err != nil {
				t.Errorf("after: %t, %v: %s", is, err, c.matcher.FailureMessage(c.of(r)))
			}
			if got := c.matcher.NegatedFailureMessage(c.of(r)); !strings.Contains(got, " should not ") {
				t.Errorf("the opposite is %q", got)
			}
		})
	}
}

func TestRenewedBeforeATime(t *testing.T) {
	t.Parallel()
	r := recorded()
	nodeIs(r, "True")
	renewed(r, 1)
	renewed(r, 1) // another field has changed
	since := time.Now()
	if len(r.Node("node-a").Renewals()) != 1 {
		t.Errorf("the renewals are %v", r.Node("node-a").Renewals())
	}
	if is, err := HaveRenewedSince(since).Match(r.Node("node-a")); is || err != nil {
		t.Error(is, err)
	}
}

func TestMatchersRefuseOtherThings(t *testing.T) {
	t.Parallel()
	_, err := HaveConnection(TLS).Match("web")
	if want := "a matcher to have a connection that begins with tls-client-hello is for a *skewtest.Container, not for a string"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestMatchersRefuseWhatCanNotBe: otherwise ShouldNot would be true of every misspelt name.
func TestMatchersRefuseWhatCanNotBe(t *testing.T) {
	t.Parallel()
	r := recorded()
	pod(r, "True")
	started(r)
	for _, c := range []struct {
		matcher Matcher
		want    string
	}{
		{HaveFailedProbe("livness"), `"livness" is none of the probes ["liveness" "readiness" "startup"]`},
		{HaveFailedProbe(""), `"" is none of the probes`},
		{HavePassedProbe("Readiness"), `"Readiness" is none of the probes`},
		{HaveFailedProbe(Startup), "container ns/web/app has no startup probe"},
		{HavePassedProbe(Startup), "container ns/web/app has no startup probe"},
		{HavePassedProbe(Liveness), "is neither httpGet nor grpc"},
		{HaveConnection("tls"), `no connection can begin with "tls": there are ["tls-client-hello" `},
	} {
		if is, err := c.matcher.Match(container(r)); is || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%t, %v, want %q", is, err, c.want)
		}
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	r := recorded()
	pod(r, "True")
	started(r)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		said(r, "liveness", "Unhealthy", "Liveness probe failed: refused")
	}()
	if err := r.wait(ctx, container(r), HaveFailedProbe(Liveness)); err != nil {
		t.Error(err)
	}
	ended := errors.New("the rig has died")
	cancel(ended)
	err := r.wait(ctx, container(r), HaveRestarted())
	if want := "container ns/web/app should have restarted: it has 0 times (the rig has died)"; !errors.Is(err, ended) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := r.wait(ctx, r.Pod("ns", "other").Container("app"), HaveRestarted()); err == nil || !strings.Contains(err.Error(), `seen were ["ns/web/app"]`) {
		t.Errorf("a container that was never there: %v", err)
	}
}

func TestNever(t *testing.T) {
	t.Parallel()
	r := recorded()
	started(r)
	if err := r.never(t.Context(), 10*time.Millisecond, container(r), HaveRestarted()); err != nil {
		t.Error(err)
	}
	go started(r)
	if err := r.never(t.Context(), time.Hour, container(r), HaveRestarted()); err == nil || err.Error() != "container ns/web/app should not have restarted: it has 1 times" {
		t.Error(err)
	}
	if err := r.never(t.Context(), time.Hour, r.Pod("ns", "other").Container("app"), HaveRestarted()); err == nil || !strings.Contains(err.Error(), "was not seen") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.never(ctx, time.Hour, r.Pod("ns", "web").Container("app"), HaveConnection(TLS)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func container(r *Rig) any { return r.Pod("ns", "web").Container("app") }
func node(r *Rig) any      { return r.Node("node-a") }

func kubelet(r *Rig) { r.history.Append("cluster", "kubelet/node-a", record.ComponentStarted{}) }

func started(r *Rig) { r.history.Append("runtime/node-a", webApp, record.ContainerStarted{}) }

func said(r *Rig, name, reason, message string) {
	r.observed("added", "events/ns/"+name, fmt.Sprintf(
		`{"reason": %q, "message": %q, "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "web", "fieldPath": "spec.containers{app}"}}`, reason, message))
}

func asked(r *Rig, status int) {
	r.history.Append("server", webApp, record.Connection{Port: 80, First: HTTP1, Opened: time.Now(), Requests: []record.Request{
		{Path: "/", UserAgent: "kube-probe/1.90", Status: status},
	}})
}

func pod(r *Rig, ready string) {
	r.observed("added", "pods/ns/web", fmt.Sprintf(`{"metadata": {"name": "web", "namespace": "ns", "uid": "1"},
		"spec": {"nodeName": "node-a", "containers": [{"name": "app", "readinessProbe": {"httpGet": {"port": 80}}, "livenessProbe": {"exec": {"command": ["true"]}}}]},
		"status": {"conditions": [{"type": "Ready", "status": %q, "message": "of its containers"}]}}`, ready))
}

func nodeIs(r *Rig, ready string) {
	r.observed("added", "nodes//node-a", fmt.Sprintf(`{"status": {"conditions": [{"type": "Ready", "status": %q}]}}`, ready))
}

func renewed(r *Rig, second int) {
	r.observed("modified", "leases/kube-node-lease/node-a", fmt.Sprintf(`{"spec": {"renewTime": "2026-01-01T00:00:0%d.000000Z"}}`, second))
}
