package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/reports"
)

// asked is how many findings the page for SIG Node has.
const asked = 5

// What stands between these lines of docs/sig-node.md is made from docs/findings.md.
const (
	beforeAsked = "<!-- From findings.md: go test ./cmd/skewrig -run TestThePageForSIGNode -update -->\n"
	afterAsked  = "<!-- End. -->\n"
)

// TestThePageForSIGNode: docs/sig-node.md has the first findings of docs/findings.md that are
// defects of Kubernetes and that nobody has reported.
func TestThePageForSIGNode(t *testing.T) {
	here, err := app.Here()
	if err != nil {
		t.Fatal(err)
	}
	findings := readText(t, filepath.Join(root, "docs", "findings.md"))
	path := filepath.Join(root, "docs", "sig-node.md")
	intro, rest, found := strings.Cut(readText(t, path), beforeAsked)
	_, outro, ends := strings.Cut(rest, afterAsked)
	if !found || !ends {
		t.Fatalf("%s has no lines %q and %q", path, beforeAsked, afterAsked)
	}
	var b strings.Builder
	unreported := unreportedDefects(here.Known.Findings())
	for i, f := range unreported[:min(asked, len(unreported))] {
		block := findingIn(findings, f.ID)
		if block == "" {
			t.Fatalf("docs/findings.md has no finding %s", f.ID)
		}
		fmt.Fprintf(&b, "\n## %d. %s\n%s\n", i+1, f.Headline, block)
	}
	fmt.Fprintf(&b, "\n## Preparation\n\nFor the scripts without skewrig, once in a shell:\n\n%s\n\n", preparationIn(findings))
	golden.Check(t, path, intro+beforeAsked+b.String()+afterAsked+outro)
}

// unreportedDefects are the defects of Kubernetes that nobody has reported, by weight,
// each once: a finding may explain checks of several scenarios. Those of k8s.io/apiserver are
// for SIG API Machinery.
func unreportedDefects(all []reports.Finding) []reports.Finding {
	elsewhere := func(f reports.Finding) bool {
		inKubernetes := func(at string) bool {
			return strings.HasPrefix(at, "https://github.com/kubernetes/kubernetes/") && !strings.Contains(at, "/staging/src/k8s.io/apiserver/")
		}
		return f.Class != reports.Defect || f.Issue != "" || !slices.ContainsFunc(f.At, inKubernetes)
	}
	kept := slices.DeleteFunc(slices.Clone(all), elsewhere)
	slices.SortStableFunc(kept, reports.Finding.Compare)
	return slices.CompactFunc(kept, func(a, b reports.Finding) bool { return a.ID == b.ID })
}

// findingIn is what docs/findings.md says of a finding, without its heading and the line
// that repeats its class.
func findingIn(page, id string) string {
	_, block, _ := strings.Cut(page, fmt.Sprintf("<a id=\"finding-%s\"></a>\n", id))
	block, _, _ = strings.Cut(block, "<a id=")
	block, _, _ = strings.Cut(block, "\n<details>")
	_, block, _ = strings.Cut(block, fmt.Sprintf("\n`%s`, ", id))
	_, block, _ = strings.Cut(block, "\n")
	return strings.TrimRight(block, "\n")
}

// preparationIn is the block of shell that docs/findings.md has for several scripts.
func preparationIn(page string) string {
	_, block, _ := strings.Cut(page, "**Preparation**")
	_, block, _ = strings.Cut(block, "```sh\n")
	block, _, _ = strings.Cut(block, "\n```")
	return "```sh\n" + block + "\n```"
}
