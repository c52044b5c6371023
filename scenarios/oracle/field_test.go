package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestAFieldIsARowOfData: a field of another gate than those of the ledgers, which is
// no probe's, and a gate that is on by default.
func TestAFieldIsARowOfData(t *testing.T) {
	t.Parallel()
	rules := model.Rules{
		Fields: []model.Field{
			{Path: "hostUsers", Gate: "Users"},
			{Probe: "grpc.mode", Gate: "Mode", Wire: &model.Wire{Value: "TLS", First: record.FirstTLS}},
		},
		Gates: release.Tables{
			"v1.90": {},
			"v1.91": {{Name: "Mode", Stage: release.Beta, Default: true}, {Name: "Users", Stage: release.Alpha}},
		},
	}
	users := `"hostUsers": false, "nodeName"`
	withUsers := strings.Replace(app(withTLS), `"nodeName"`, users, 1)
	for name, tc := range map[string]struct {
		on             bool
		tell           func(*story)
		survival, wire reports.Outcome
	}{
		"kept":           {true, func(s *story) { s.show(pod, false, "%s", withUsers) }, reports.Pass, ""},
		"lost":           {true, func(s *story) { s.show(pod, false, "%s", app(withTLS)) }, reports.Fail, ""},
		"made while off": {false, func(*story) {}, reports.Fail, ""},
		"TLS by default": {true, func(s *story) { s.connect(cont, record.FirstTLS, behavior.GRPCTLS, true) }, reports.Pass, reports.Pass},
		"plaintext in spite of the default": {true, func(s *story) {
			s.connect(cont, record.FirstHTTP2, behavior.GRPCTLS, false)
		}, reports.Pass, reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(story)
			s.add("kube-apiserver", record.ComponentStarted{Version: "v1.91.0", Gates: release.Gates{"Users": tc.on}})
			s.add("kubelet/node-a", record.ComponentStarted{Version: "v1.91.0"})
			s.show(pod, false, "%s", withUsers)
			tc.tell(s)
			all, _ := look(rules, s.cell, s.events)
			got := make(map[string]reports.Check)
			for _, c := range all {
				got[c.ID] = c
			}
			if c := got[checks+"field-survival"]; c.Outcome != tc.survival {
				t.Errorf("field-survival: %q (%s), want %q", c.Outcome, c.Observed, tc.survival)
			}
			if c := got[checks+"wire-mode"]; c.Outcome != tc.wire {
				t.Errorf("wire-mode: %q (%s), want %q", c.Outcome, c.Observed, tc.wire)
			}
		})
	}
}

// TestAFieldOfAnyResource: plurals are not all made by an s, and a definition says that of its resource.
func TestAFieldOfAnyResource(t *testing.T) {
	t.Parallel()
	for kind, resource := range map[string]string{"Service": "services", "NetworkPolicy": "networkpolicies", "Ingress": "ingresses", "Ox": "oxen"} {
		for answered, want := range map[string]reports.Outcome{`"new": 1`: reports.Pass, `"old": 1`: reports.Fail} {
			t.Run(kind+" with "+answered, func(t *testing.T) {
				t.Parallel()
				object := func(spec string) (o map[string]any) {
					if err := json.Unmarshal(fmt.Appendf(nil, `{"kind": %q, "metadata": {"name": "a"}, "spec": {%s}}`, kind, spec), &o); err != nil {
						t.Fatal(err)
					}
					return o
				}
				rules := model.Rules{
					Fields: []model.Field{{Resource: resource, Path: "spec.new", Gate: "New"}},
					Gates:  release.Tables{"v1.91": {{Name: "New", Stage: release.Beta, Default: true}}},
				}
				s := &story{cell: plan.Cell{Steps: []plan.Step{
					{Number: 1, Name: "define", Action: action.CRD{Group: "example.com", Kind: "Ox", Plural: "oxen"}},
					{Number: 2, Name: "create", Action: action.Apply{Objects: []map[string]any{object(`"new": 1`)}}},
				}}}
				s.add("kube-apiserver", record.ComponentStarted{Version: "v1.91.0"})
				s.add("create", record.StepStarted{Number: 2, Name: "create"})
				s.add("create", record.APIAnswer{Object: resource + "/default/a", Code: 201, Response: object(answered)})
				all, _ := look(rules, s.cell, s.events)
				i := slices.IndexFunc(all, func(c reports.Check) bool { return c.ID == checks+"field-survival" })
				if i < 0 || all[i].Outcome != want {
					t.Errorf("field-survival of %v, want %q", all, want)
				}
			})
		}
	}
}
