package keps

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports/prr"
)

const kepFile = `title: Things
kep-number: 4939
owning-sig: sig-node
status: implementable
stage: alpha
latest-milestone: "v1.37"
milestone:
  alpha: "v1.36"
  beta: "v1.38"
creation-date: 2026-31-05
feature-gates:
- name: ThingGate
  components: [kube-apiserver, kube-controller-manager via client-go library]
- OtherGate
- name: NA
- name: None
metrics:
- thing_total (a counter)
- none yet
`

const readme = `# KEP-4939

###### Can the feature be disabled once it has been enabled (i.e. can we roll back the enablement)?

<!-- advice -->

Yes. Nothing
is lost.

###### Were upgrade and rollback tested? Was the upgrade->downgrade->upgrade path tested?

By hand.

###### What are other known failure modes?

<!-- advice -->

* **Does enabling the feature change any default behavior?**

No.

### Monitoring Requirements

Other text.
`

func texts() fstest.MapFS {
	return fstest.MapFS{
		"keps/sig-node/4939-things/kep.yaml":     {Data: []byte(kepFile)},
		"keps/sig-node/4939-things/README.md":    {Data: []byte(readme)},
		"keps/sig-node/17-old/kep.yaml":          {Data: []byte("title: Old\nkep-number: \"17\"\nlatest-milestone: 1.10\n")},
		"keps/sig-node/18-broken/kep.yaml":       {Data: []byte("title: [")},
		"keps/sig-node/19-no-number/kep.yaml":    {Data: []byte("title: None\nkep-number: none\n")},
		"keps/NNNN-kep-template/kep.yaml":        {Data: []byte("title: Template\nkep-number: NNNN\n")},
		"keps/sig-node/4939-things/elsewhere.md": {Data: []byte("no proposal")},
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	all, err := Read(texts())
	if err == nil || !strings.Contains(err.Error(), "18-broken") || !strings.Contains(err.Error(), "19-no-number") || strings.Contains(err.Error(), "NNNN") {
		t.Errorf("the error is %v", err)
	}
	if len(all) != 2 || all[0].Number != 17 {
		t.Fatalf("got %+v", all)
	}
	want := KEP{
		Number: 4939, Title: "Things", SIG: "sig-node", Status: "implementable", Stage: "alpha", Milestone: "v1.37", Stages: []string{"v1.36", "v1.38"},
		Gates:   []Gate{{Name: "ThingGate", Components: []string{"kube-apiserver", "kube-controller-manager"}}, {Name: "OtherGate"}},
		Metrics: []string{"thing_total"}, Dir: "keps/sig-node/4939-things",
		Written: map[string]Written{
			prr.Disabled: {Text: "Yes. Nothing is lost.", Line: 7},
			prr.Upgrades: {Text: "By hand.", Line: 12},
			prr.Defaults: {Text: "No.", Line: 20},
		},
	}
	if diff := cmp.Diff(want, all[1]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	all, _ := Read(texts()) // some are broken
	for word, number := range map[string]int{"4939": 4939, "KEP-4939": 4939, "kep-17": 17, "OtherGate": 4939, "18": 0, "Nothing": 0} {
		k, is := Find(all, word)
		if is != (number > 0) || k.Number != number {
			t.Errorf("%s: %v, %d", word, is, k.Number)
		}
	}
	for milestone, count := range map[string]int{"v1.37": 1, "v1.36": 1, "v1.38": 0, "v1.35": 0} {
		if of := Of(all, milestone); len(of) != count {
			t.Errorf("of %s: %v", milestone, of)
		}
	}
}
