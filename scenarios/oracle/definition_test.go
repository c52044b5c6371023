package oracle

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// runners are custom resources of two versions with the templates of releases. The first one is
// stored.
func runners(v1, v1beta1 release.Version) action.CRD {
	return action.CRD{Group: "example.com", Kind: "Runner", Plural: "runners", Versions: []action.CRDVersion{{Name: "v1", Template: v1}, {Name: "v1beta1", Template: v1beta1}}}
}

// runner is a custom resource with a probe.
func runner(version, probe string) string {
	return fmt.Sprintf(`"apiVersion": "example.com/%s", "kind": "Runner", "spec": {"template": {"spec": {"containers": [{"name": "app", "readinessProbe": %s}]}}}`, version, probe)
}

const aRunner = "runners/default/a"

func TestCustomResources(t *testing.T) {
	t.Parallel()
	type outcome = reports.Outcome
	for name, tc := range map[string]struct {
		defines    action.CRD
		converts   action.Conversion
		version    string
		kept, lost outcome // if it is created with the field, and answered with or without it
	}{
		"a newer schema":                     {runners(newest, old), action.Conversion{}, "v1", reports.Pass, reports.Fail},
		"an older schema":                    {runners(old, newest), action.Conversion{}, "v1", reports.Fail, reports.Pass},
		"an older schema of that version":    {runners(newest, old), action.Conversion{}, "v1beta1", reports.Fail, reports.Pass},
		"an older schema of what is stored":  {runners(old, newest), action.Conversion{}, "v1beta1", reports.Fail, reports.Pass},
		"no schema":                          {runners("", ""), action.Conversion{}, "v1beta1", reports.Pass, reports.Fail},
		"a webhook of an older release":      {runners(newest, newest), action.Conversion{Of: "runners.example.com", WebhookReply: action.WebhookReply{Reserialize: old}}, "v1beta1", reports.Fail, reports.Pass},
		"such a webhook that is not asked":   {runners(newest, newest), action.Conversion{Of: "runners.example.com", WebhookReply: action.WebhookReply{Reserialize: old}}, "v1", reports.Pass, reports.Fail},
		"a webhook of another resource":      {runners(newest, newest), action.Conversion{Of: "others.example.com", WebhookReply: action.WebhookReply{Reserialize: old}}, "v1beta1", reports.Pass, reports.Fail},
		"a webhook that keeps everything":    {runners(newest, newest), action.Conversion{Of: "runners.example.com"}, "v1beta1", reports.Pass, reports.Fail},
		"a definition that is not the rig's": {action.CRD{Plural: "others"}, action.Conversion{}, "v1", "", ""},
	} {
		for probe, want := range map[string]outcome{withTLS: tc.kept, without: tc.lost} {
			t.Run(name+", "+probe, func(t *testing.T) {
				t.Parallel()
				manifest := map[string]any{}
				if err := json.Unmarshal([]byte(`{"metadata": {"name": "a"}, `+runner(tc.version, withTLS)+`}`), &manifest); err != nil {
					t.Fatal(err)
				}
				s := &story{cell: plan.Cell{Steps: []plan.Step{
					{Number: 1, Name: "define", Action: tc.defines},
					{Number: 2, Name: "convert", Action: tc.converts},
					{Number: 3, Name: "create", Action: action.Apply{Objects: []map[string]any{manifest}}},
				}}}
				s.start("kube-apiserver", newest, false) // its gate has no part in it
				for _, step := range s.cell.Steps {
					s.add(step.Name, record.StepStarted{Number: step.Number, Name: step.Name})
				}
				var response map[string]any
				if err := json.Unmarshal([]byte(`{"metadata": {"name": "a"}, `+runner(tc.version, probe)+`}`), &response); err != nil {
					t.Fatal(err)
				}
				s.add("create", record.APIAnswer{Object: aRunner, Code: 201, Response: response})
				if got, observed := s.outcome(t, "field-survival"); got != want {
					t.Errorf("%q (%s), want %q", got, observed, want)
				}
			})
		}
	}
}

func TestACustomResourceIsDefinedAnew(t *testing.T) {
	t.Parallel()
	single := func(v release.Version) action.CRD {
		crd := runners(v, v)
		crd.Versions = crd.Versions[:1]
		return crd
	}
	for name, tc := range map[string]struct {
		defined action.CRD
		by      string
		after   string
		want    reports.Outcome
	}{
		"as it was":                       {single(newest), "v1", withTLS, reports.Pass},
		"as it was, and lost":             {single(newest), "v1", without, reports.Fail},
		"with an older schema":            {single(old), "v1", without, reports.Pass},
		"with an older schema, and kept":  {single(old), "v1", withTLS, reports.Fail},
		"with an older version, and lost": {runners(newest, old), "v1beta1", without, reports.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{cell: plan.Cell{Steps: []plan.Step{
				{Number: 1, Name: "define", Action: single(newest)},
				{Number: 2, Name: "again", Action: tc.defined},
				{Number: 3, Name: "label", Action: action.Patch{Merge: map[string]any{"metadata": map[string]any{}}}},
			}}}
			s.start("kube-apiserver", newest, false)
			s.add("define", record.StepStarted{Number: 1, Name: "define"})
			s.show(aRunner, false, "%s", runner("v1", withTLS))
			s.add("again", record.StepStarted{Number: 2, Name: "again"})
			s.add("label", record.StepStarted{Number: 3, Name: "label"})
			s.show(aRunner, false, "%s", runner("v1", tc.after))
			var response map[string]any
			last, _ := record.As[record.ObjectObserved](s.events[len(s.events)-1])
			if err := json.Unmarshal(last.Object, &response); err != nil {
				t.Fatal(err)
			}
			response["apiVersion"] = "example.com/" + tc.by
			s.add("label", record.APIAnswer{Object: aRunner, Code: 200, Response: response})
			if got, observed := s.outcome(t, "field-survival"); got != tc.want {
				t.Errorf("%q (%s), want %q", got, observed, tc.want)
			}
		})
	}
}
