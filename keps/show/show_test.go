package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/keps"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/sweep/gated"
)

// milestone has a proposal whose answers disagree with its text, and one that can't be tried. Their names are hostile.
func milestone() Milestone {
	bad := keps.Result{KEP: keps.KEP{Number: 7, Title: "Things <script>alert(1)</script>", Dir: "keps/7"}, Answers: []keps.Answer{
		{Section: "Feature Enablement and Rollback", Question: prr.Disabled, Verdict: keps.Contradicted, Sentences: []string{"It was tried."}, Findings: []keps.Finding{{Sweep: keps.OffSweep, ID: "finding-1", Title: "the field is lost", At: "gates off at kube-apiserver", Issues: "kubernetes#1"}}, Command: "skewrig sweep v1.37.2 --gates A", Written: keps.Written{Text: "Yes.", Line: 12}, Beside: keps.Disagrees,
			Ledger: keps.Ledger{Answer: "Yes. It can.", Holds: []string{"KEP-7/a"}, Differs: true}},
		{Section: "Troubleshooting", Question: "What are other known failure modes?", Verdict: keps.NotTried, Sentences: []string{"A sweep does not look at this."}},
	}}
	never := keps.Answers(keps.KEP{Number: 8, Title: "Proxy"}, keps.Evidence{Release: gated.Release{Version: "v1.37.2"}})
	return Milestone{Name: "v1.37", Release: "v1.37.2", Before: "v1.36.5", Results: []keps.Result{bad, never}, Changes: []keps.Change{{KEP: "KEP-7", Question: prr.Disabled, Was: keps.Shown, Is: keps.Contradicted}}}
}

func TestWriters(t *testing.T) {
	t.Parallel()
	m := milestone()
	var page, proposal, markdown, none, text bytes.Buffer
	for _, err := range []error{m.Page(&page), m.Proposal(&proposal, m.Results[0]), m.Markdown(&markdown, m.Results[0]), m.Markdown(&none, m.Results[1])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	m.Text(&text)
	for of, has := range map[*bytes.Buffer][]string{
		&page:     {"Answers of enhancements v1.37", `href="answers/kep-7.html"`, `href="answers/kep-7.html#`, "the field is lost", string(keps.Disagrees), "kep.yaml names no feature gate", "a rig can try 1 of them"},
		&proposal: {"<strong>contradicted</strong>. It was tried.", `href="../gates/index.html#finding-1"`, "the field is lost", "keps/7/README.md, line 12", "The ledger: Yes. It can. (1 statement shown, 0 contradicted) <strong>ledger and run differ</strong>", "###### " + prr.Disabled},
		&markdown: {"**contradicted**. It was tried.", "- gates/finding-1: the field is lost, with gates off at kube-apiserver (kubernetes", "(keps/7/README.md, line 12)", "The ledger: Yes", "###### " + prr.Disabled, "Draft for the proposal"},
		&none:     {"Nothing was tried: kep.yaml names no feature gate."},
		&text:     {"contradicted", "not tried: kep.yaml names no feature gate", "2 proposals, 1 of which a rig can try. Answered: disabling 1 of 1, upgrade and rollback 0 of 1", "shown before, contradicted now", "ledger and run differ: Yes. It can. (1 statement shown, 0 contradicted)"},
	} {
		for _, want := range has {
			if !strings.Contains(of.String(), want) {
				t.Errorf("%q is not in\n%s", want, of)
			}
		}
	}
	for _, of := range []*bytes.Buffer{&page, &proposal, &markdown} {
		if strings.Contains(of.String(), "<script>") {
			t.Errorf("a script is in\n%s", of)
		}
	}
}

func TestBadge(t *testing.T) {
	t.Parallel()
	if got := milestone().Badge(); got["color"] != "red" || got["label"] != "rollback tried v1.37" || got["message"] != "0 of 1" {
		t.Errorf("got %v", got)
	}
}
