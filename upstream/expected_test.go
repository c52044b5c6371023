package upstream

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
)

const list = `apiVersion: skewrig.dev/v1alpha1
kind: UpstreamExpectations
specs:
- {specs: ^Pods, reason: they need pods, kubelets: "< 1.90"}
- {specs: resize$, reason: they need cgroups, runtime: simulated, notRun: true}
- {specs: resize$, reason: they need another containerd, runtime: containerd}
`

func TestExpectations(t *testing.T) {
	all, err := ParseExpectations("list.yaml", []byte(list))
	if err != nil {
		t.Fatal(err)
	}
	if e := all.Of(Spec{Name: "Pods resize"}, Rig{Kubelet: "v1.89.3"}); e == nil || e.Reason != "they need pods" {
		t.Errorf("on an old kubelet: %v, want the first that matches", e)
	}
	if e := all.Of(Spec{Name: "Pods resize"}, Rig{Kubelet: "v1.90.1"}); e == nil || !e.NotRun {
		t.Errorf("on a new kubelet: %v, want the one without a range", e)
	}
	if e := all.Of(Spec{Name: "Pods resize"}, Rig{Kubelet: "v1.90.1", Runtime: record.Containerd}); e == nil || e.NotRun {
		t.Errorf("on real containers: %v, want the one of containerd", e)
	}
	if e := all.Of(Spec{Name: "Probes"}, Rig{Kubelet: "v1.89.3"}); e != nil {
		t.Errorf("of another spec: %v", e)
	}
	if problems := all.Problems([]Spec{{Name: "Pods run"}}); len(problems) != 1 || !strings.Contains(problems[0], "resize$") {
		t.Errorf("of a release without a spec that is named: %q", problems)
	}
}

func TestAListIsReadStrictly(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"another kind":        {strings.Replace(list, Kind, "Pod", 1), "kind must be"},
		"no reason":           {strings.Replace(list, "reason: they need pods, ", "", 1), "reason is missing"},
		"no specs":            {strings.Replace(list, "specs: ^Pods, ", "", 1), "specs is missing"},
		"a broken expression": {strings.Replace(list, "^Pods", "'('", 1), "missing closing"},
		"a broken runtime":    {strings.Replace(list, "runtime: simulated", "runtime: fake", 1), "simulated, containerd"},
		"a broken range":      {strings.Replace(list, "< 1.90", "new", 1), "range of releases"},
		"a field too many":    {strings.Replace(list, "notRun", "ignored", 1), "ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseExpectations("list.yaml", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestTheListOfExpectationsIsRead(t *testing.T) {
	all, err := Expected()
	if err != nil || len(all) == 0 {
		t.Errorf("%d expectations, error %v", len(all), err)
	}
}
