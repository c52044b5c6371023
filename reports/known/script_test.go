package known

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/reports"
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
		if prepared != (strings.HasPrefix(f.Without, "cluster;") || strings.HasPrefix(f.Without, "cluster v")) || prepared && creates || deletes != (prepared || creates) {
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

// scriptsOf are the scripts of the catalog's findings, each with its preparation.
func scriptsOf(t *testing.T) map[string]string {
	t.Helper()
	list, err := Load("../../scenarios/catalog/known-deviations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scripts := make(map[string]string)
	for _, f := range list.Findings() {
		if f.Without != "" {
			scripts[f.ID] = f.Preparation + "\n" + f.Without + "\n"
		} else if f.Class == reports.Defect && f.ID != "retries-before-it-backs-off" {
			t.Errorf("%s has no script", f.ID)
		}
	}
	return scripts
}

// TestScriptsOfTheCatalogAreShell: nothing runs them, so bash reads them at least.
func TestScriptsOfTheCatalogAreShell(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for id, script := range scriptsOf(t) {
		command := exec.CommandContext(t.Context(), bash, "-n")
		command.Stdin = strings.NewReader(script)
		if out, err := command.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", id, err, out)
		}
	}
}

// TestManifestsInScriptsHaveOnlyFieldsThatExist: those in single quotes, with what comes
// before them.
func TestManifestsInScriptsHaveOnlyFieldsThatExist(t *testing.T) {
	t.Parallel()
	manifest := regexp.MustCompile(`(printf|--overrides|deployment \S+ -p|pod \S+ -p) '((?:kind: |\{")[^']*)'`)
	number := 0
	for id, script := range scriptsOf(t) {
		for _, m := range manifest.FindAllStringSubmatch(script, -1) {
			number++
			var into any
			switch text, _, _ := strings.Cut(m[1], " "); text {
			case "printf":
				into = new(v1alpha4.Cluster)
			case "deployment":
				into = new(appsv1.Deployment)
			default:
				into = new(corev1.Pod)
			}
			if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(m[2], `\n`, "\n")), into); err != nil {
				t.Errorf("%s: %v in %s", id, err, m[2])
			}
		}
		if all := strings.Count(script, `'{"`) + strings.Count(script, "'kind: "); all != len(manifest.FindAllString(script, -1)) {
			t.Errorf("%s has %d manifests, and not all are decoded", id, all)
		}
	}
	if number == 0 {
		t.Error("no script has a manifest")
	}
}
