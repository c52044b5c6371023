package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// replica is a ReplicaSet of a template with a hash, whose container has this probe and whose
// status has these ready replicas.
func replica(hash, probe string, ready int) func(*record.History) {
	return func(h *record.History) {
		text := fmt.Sprintf(`{"metadata": {"uid": "%s", "resourceVersion": "%d", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"pod-template-hash": "%s"}},
			"spec": {"template": {"spec": {"containers": [{"name": "app", "readinessProbe": %s}]}}}, "status": {"readyReplicas": %d}}`, hash, ready, hash, probe, ready)
		h.Append("watch", "", record.ObjectObserved{
			Change: "added", Resource: "replicasets", Namespace: "default", Name: "web-" + hash, Object: json.RawMessage(text),
		})
	}
}

func answered(code int, warnings ...string) func(*record.History) {
	return func(h *record.History) {
		h.Append("engine", "create", record.APIAnswer{Object: "pods/default/web", Code: code, Warning: warnings})
	}
}

func read(path, text string) func(*record.History) {
	return func(h *record.History) {
		h.Append("engine", "version", record.APIAnswer{Path: path, Code: 200, Response: json.RawMessage(text)})
	}
}

// TestDistinguish: what one of two cells shows and the other does not is listed by what it is
// about, with the step in which it begins; what is another one in each run is not.
func TestDistinguish(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		here, there steps
		want        []string
	}{
		"the same": {steps{1: replica("12ab", `{"grpc": {"port": 1}}`, 1)}, steps{1: replica("34cd", `{"grpc": {"port": 1}}`, 1)}, nil},
		"a field": {steps{1: replica("12ab", `{"grpc": {"port": 1, "mode": "TLS"}}`, 1)}, steps{2: replica("34cd", `{"grpc": {"port": 1}}`, 1)}, []string{
			`step 1: replicasets/default/web-*: spec.template.spec.containers[app].readinessProbe.grpc.mode: "TLS" here, not seen there`,
		}},
		"another value": {steps{1: replica("12ab", `{"periodSeconds": 1}`, 1)}, steps{1: replica("34cd", `{"periodSeconds": 2}`, 1)}, []string{
			`step 1: replicasets/default/web-*: spec.template.spec.containers[app].readinessProbe.periodSeconds: 1 here, 2 there`,
		}},
		"one more object": {steps{1: replica("12ab", `{}`, 1), 2: replica("56ef", `{}`, 1)}, steps{1: replica("34cd", `{}`, 1)}, []string{
			`step 2: replicasets/default/web-*: was 2 objects here, was 1 objects there`,
		}},
		"a status, which may be chance": {steps{1: replica("12ab", `{}`, 1)}, steps{1: replica("34cd", `{}`, 2)}, []string{
			`step 1: replicasets/default/web-*: status.readyReplicas: ended as 1 here, ended as 2 there (may be chance)`,
		}},
		"an answer": {steps{1: answered(201)}, steps{1: answered(422)}, []string{
			`step 1: step create: pods/default/web: was answered 201 here, was answered 422 there`,
		}},
		"a warning": {steps{1: answered(201)}, steps{1: answered(201, `unknown field "x"`)}, []string{
			`step 1: step create: pods/default/web: warning: not seen here, unknown field "x" there`,
		}},
		"what was read": {steps{1: read("/version", `{"minor": "91", "goVersion": "go1"}`)}, steps{1: read("/version", `{"minor": "90", "goVersion": "go1"}`)}, []string{
			`step 1: step version: /version: minor: "91" here, "90" there`,
		}},
		"the wire": {steps{1: asked("tls-client-hello")}, steps{1: asked("http2-preface")}, []string{
			`step 1: a client of container default/web/app, port 8080: began with tls-client-hello and had no answer here, began with http2-preface and had no answer there (may be chance)`,
			`step 1: wire of container default/web/app, port 8080: began with tls-client-hello here, began with http2-preface there`,
		}},
		"an exit and a start": {steps{1: exits(128), 2: starts(1)}, nil, []string{
			`step 1: container default/web/app: exited with 128 here, not seen there`,
			`step 2: attempt 1 of container default/web/app: was started here, not seen there (may be chance)`,
		}},
		"an exit": {steps{2: exits(1)}, nil, []string{`step 2: container default/web/app: exited with 1 here, not seen there`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range Distinguish([]Run{story(false, tc.here)}, []Run{story(false, tc.there)}) {
				line := fmt.Sprintf("step %d: %s", d.Step, d)
				if d.Chance {
					line += " (may be chance)"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDistinguishChecks: a check that both cells have is compared, and one of them alone is not.
func TestDistinguishChecks(t *testing.T) {
	t.Parallel()
	here, there := story(false, nil), story(true, nil)
	here.Checks = append(here.Checks, reports.Check{ID: "only-here", Outcome: reports.Pass})
	got := Distinguish([]Run{here}, []Run{there})
	if len(got) != 1 || got[0].String() != "check up: pass here, fail there" || got[0].Chance {
		t.Errorf("%v", got)
	}
}

// TestDistinguishSeveralRuns: of enough runs, what all of one cell show and none of the other is
// no chance.
func TestDistinguishSeveralRuns(t *testing.T) {
	t.Parallel()
	got := Distinguish(several(3, false, steps{1: replica("12ab", `{}`, 1)}), several(3, false, steps{1: replica("34cd", `{}`, 2)}))
	if len(got) != 1 || !got[0].Counts() || !strings.Contains(got[0].What, "readyReplicas") {
		t.Errorf("%v", got)
	}
	if got := Distinguish(several(1, false, nil), nil); got != nil {
		t.Errorf("without runs there: %v", got)
	}
}
