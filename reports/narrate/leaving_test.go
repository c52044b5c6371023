package narrate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// written shows a state of settings that field managers wrote.
func (h *history) written(at float64, version, fields string, writers ...record.Writer) {
	h.at(at, "settings/default/a", record.ObjectObserved{
		Change: "modified", Resource: "settings", Namespace: "default", Name: "a", Writers: writers,
		Object: json.RawMessage(`{"metadata":{"uid":"1","resourceVersion":"` + version + `"},` + fields + `}`),
	})
}

// TestWhoChangedAField: a value that left is lost only if a server is proven to have lost it; a component, a
// webhook or a step is named only if the record proves that it did it.
func TestWhoChangedAField(t *testing.T) {
	t.Parallel()
	const safe, fast, none = `"spec":{"mode":"safe"}`, `"spec":{"mode":"fast"}`, `"spec":{}`
	manager := record.Writer{Manager: "kube-controller-manager", Operation: "Update"}
	status := record.Writer{Manager: "kubelet", Operation: "Update", Subresource: "status"}
	answered := func(h *history, action, version string) {
		h.step(2, 1, "tune", action)
		h.at(2, "tune", record.APIAnswer{Object: "settings/default/a", Code: 200, Response: map[string]any{"metadata": map[string]any{"resourceVersion": version}}})
	}
	for name, tc := range map[string]struct {
		happened   func(*history)
		mode, want string
	}{
		"a controller": {
			happened: func(h *history) { h.written(2, "2", fast, manager) },
			want:     `kube-controller-manager v1.90.1 changed spec.mode of settings/default/a from "safe" to "fast" at 2.0 s.`,
		},
		"a controller removes": {
			happened: func(h *history) { h.written(2, "2", none, manager) },
			want:     `kube-controller-manager v1.90.1 removed spec.mode of settings/default/a, which was "safe", at 2.0 s.`,
		},
		"a manager that is no component": {
			happened: func(h *history) { h.written(2, "2", fast, record.Writer{Manager: "hpa"}) },
			want:     `Field manager "hpa" changed spec.mode of settings/default/a from "safe" to "fast" at 2.0 s.`,
		},
		"several managers": {
			happened: func(h *history) { h.written(2, "2", fast, manager, status) },
			want:     `spec.mode of settings/default/a changed from "safe" to "fast" at 2.0 s; the record does not say who wrote it.`,
		},
		"no known manager": {
			happened: func(h *history) { h.written(2, "2", none) },
			want:     `spec.mode of settings/default/a, which was "safe", was no longer set at 2.0 s; the record does not say who wrote it.`,
		},
		"a write of the status": {
			happened: func(h *history) { h.written(2, "2", none, status) },
			want:     `kube-apiserver v1.90.1 lost spec.mode of settings/default/a at 2.0 s, when it wrote the object; until then, it was "safe" in storage.`,
		},
		"a server that does not show it": {
			happened: func(h *history) { h.written(2, "1", none); h.written(3, "2", none, manager) },
			want:     `kube-apiserver v1.90.1 lost spec.mode of settings/default/a at 3.0 s, when it wrote the object; until then, it was "safe" in storage.`,
		},
		"the patch of a step": {
			happened: func(h *history) {
				answered(h, `patch settings/default/a with {"spec":{"mode":"fast"}}`, "2")
				h.written(2.1, "2", fast)
			},
			want: `Step 1 (tune: patch settings/default/a with {"spec":{"mode":"fast"}}) changed spec.mode of settings/default/a from "safe" to "fast" at 2.1 s.`,
		},
		"null in the patch of a step": {
			happened: func(h *history) {
				answered(h, `patch settings/default/a with {"spec":null}`, "2")
				h.written(2.1, "2", `"data":{}`)
			},
			want: `Step 1 (tune: patch settings/default/a with {"spec":null}) removed spec.mode of settings/default/a, which was "safe", at 2.1 s.`,
		},
		"a patch of something else": {
			happened: func(h *history) {
				answered(h, `patch settings/default/a with {"spec":{"level":1}} as field manager x`, "2")
				h.written(2.1, "2", none)
			},
			want: `kube-apiserver v1.90.1 lost spec.mode of settings/default/a at 2.1 s, when it wrote the object in step 1 (tune: patch settings/default/a with {"spec":{"level":1}} as field manager x); until then, it was "safe" in storage.`,
		},
		"a patch that the record has in part": {
			happened: func(h *history) {
				answered(h, `patch settings/default/a with {"spec":{"level":1...`, "2")
				h.written(2.1, "2", none)
			},
			want: `spec.mode of settings/default/a, which was "safe", was no longer set at 2.1 s, with the write of step 1 (tune: patch settings/default/a with {"spec":{"level":1...).`,
		},
		"a step that applies": {
			happened: func(h *history) {
				answered(h, `server-side apply Settings a`, "2")
				h.written(2.1, "2", none)
			},
			want: `spec.mode of settings/default/a, which was "safe", was no longer set at 2.1 s, with the write of step 1 (tune: server-side apply Settings a).`,
		},
		"a policy of the scenario may have changed it": {
			happened: func(h *history) {
				h.at(1.5, "policy", record.APIAnswer{Object: "mutatingadmissionpolicies/p", Code: 201})
				answered(h, `patch settings/default/a with {"spec":{"level":1}}`, "2")
				h.written(2.1, "2", none)
			},
			want: `spec.mode of settings/default/a, which was "safe", was no longer set at 2.1 s, with the write of step 1 (tune: patch settings/default/a with {"spec":{"level":1}}).`,
		},
		"a webhook that only was asked": {
			happened: func(h *history) {
				h.at(1.9, "injector", record.WebhookCalled{Object: "settings/default/a", Allowed: true, DryRun: true, Patch: []string{"remove /spec/mode"}})
				h.written(2, "2", none, manager)
			},
			want: `kube-controller-manager v1.90.1 removed spec.mode of settings/default/a, which was "safe", at 2.0 s.`,
		},
		"a deletion": {
			happened: func(h *history) {
				h.step(2, 1, "1", "delete settings/default/a")
				h.show(2, "settings/default/a", "deleted", `{"metadata":{"uid":"1","resourceVersion":"2"},`+safe+`}`)
			},
			want: `settings/default/a was deleted at 2.0 s in step 1 (delete settings/default/a).`,
		},
		"an object of the same name": {
			happened: func(h *history) {
				h.show(2, "settings/default/a", "added", `{"metadata":{"uid":"2","resourceVersion":"2"},`+fast+`}`)
			},
			want: `settings/default/a was deleted, and created again at 2.0 s with another value.`,
		},
		"a change before a check begins to wait": {
			happened: func(h *history) { h.written(2, "2", fast, manager) },
			mode:     "within 1s",
			want:     `spec.mode of settings/default/a did not become "safe" in the 1.0 s, until 10.0 s: it was "fast", since 2.0 s.`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := append(history{}, checked()[:1]...)
			h.start(0, "kube-apiserver", "v1.90.1", nil)
			h.start(0, "kube-controller-manager", "v1.90.1", nil)
			h.written(1, "1", safe)
			tc.happened(&h)
			h = append(h, checked()[1:]...)
			result := outcome(reports.Fail)
			mode := "at once"
			if tc.mode != "" {
				mode = tc.mode
			}
			result.Checks[0].Expected, result.Checks[0].Observed = mode+`: objects["settings/default/a"].spec.mode == "safe"`, `"fast"`
			c := of(narrate.Input{Events: h, Result: result}).Checks[0]
			want(t, tc.want, c.Cause)
		})
	}
}

// TestNoCauseOfComparedFields: what one field was to be is another field, which changes too. That the first
// one once had the value of today is no cause.
func TestNoCauseOfComparedFields(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	h.written(1, "1", `"status":{"updated":"a","current":"a"}`)
	h.written(2, "2", `"status":{"updated":"b","current":"a"}`, record.Writer{Manager: "kube-controller-manager"})
	result := outcome(reports.Fail)
	result.Checks[0].Expected, result.Checks[0].Observed = `at once: objects["settings/default/a"].status.updated == objects["settings/default/a"].status.current == true`, "false"
	c := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result}).Checks[0]
	want(t, `status.updated of settings/default/a was "b" at 10.0 s (step 4), since 2.0 s; expected: "a", as objects["settings/default/a"].status.current was.`, c.Cause)
}

// TestConditionsOnNames: a condition on nothing but a name says which object there was.
func TestConditionsOnNames(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	h.show(2, "pods/default/report-5dq89", "added", `{"metadata":{"uid":"1","resourceVersion":"1"}}`)
	result := outcome(reports.Fail)
	result.Checks[0].Expected, result.Checks[0].Observed = `within 1s: objects.exists(k, k.startsWith("pods/default/report-")) == false`, "true"
	c := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result}).Checks[0]
	want(t, `Objects always had an element k with k.startsWith("pods/default/report-") in the 1.0 s, until 10.0 s: it was 1 element, 1 such: pods/default/report-5dq89, since 2.0 s.`, strings.Split(c.Cause, "\n")[0])
}
