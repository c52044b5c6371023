package known

import (
	"strings"
	"testing"
)

// TestScriptsOfTheCatalogCleanUp: the cluster that a script leaves behind is in the way
// of the next one, and one that becomes the current context in that of the reader.
func TestScriptsOfTheCatalogCleanUp(t *testing.T) {
	t.Parallel()
	list, err := Load("../../scenarios/catalog/known-deviations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list.Findings() {
		prepared := f.Preparation != ""
		creates, deletes := strings.Contains(f.Without, "kind create cluster --name skewrig"), strings.HasSuffix(withoutComment(f.Without), "kind delete cluster --name skewrig")
		if prepared != strings.HasPrefix(f.Without, "cluster;") || prepared && creates || deletes != (prepared || creates) {
			t.Errorf("%s: prepared %t, creates a cluster %t, deletes it last %t:\n%s", f.ID, prepared, creates, deletes, f.Without)
		}
		if create := strings.Index(f.Without, "kind create"); create >= 0 && !strings.Contains(f.Without[:create], "export KUBECONFIG=$(mktemp)") {
			t.Errorf("%s: the cluster becomes the current context of who runs the script:\n%s", f.ID, f.Without)
		}
		if lines := strings.Count(f.Without, "\n") + 1; prepared && lines > 5 {
			t.Errorf("%s: %d lines", f.ID, lines)
		}
	}
}

func withoutComment(script string) string {
	script, _, _ = strings.Cut(script[strings.LastIndex(script, "\n")+1:], "  #")
	return script
}

// TestAPreparedFindingHasThePreparationOfTheList, if there is one.
func TestAPreparedFindingHasThePreparationOfTheList(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\n"
	const findings = `findings:
- id: a
  class: defect
  headline: h
  instead: i
  effect: e
  link: https://example.com/1
  prepared: true
  without: cluster
  explains: [{cells: a/**, checks: up}]
`
	list, err := Parse("k.yaml", []byte(head+"preparation: |\n  cluster() { true; }\n"+findings))
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Findings()[0].Preparation; got != "cluster() { true; }" {
		t.Errorf("it is %q", got)
	}
	if _, err := Parse("k.yaml", []byte(head+findings)); err == nil || !strings.HasSuffix(err.Error(), "the list has no preparation") {
		t.Errorf("without a preparation: %v", err)
	}
}
