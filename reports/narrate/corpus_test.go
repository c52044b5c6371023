package narrate_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// corpus has the red cells of which a person wrote down why they are red: see its README.
const corpus = "testdata/causes"

// explained is how many cells of the corpus have their true cause in their sentences. It may only grow.
const explained = 25

var reportDir = flag.String("report-dir", "", "a report of the scenarios in "+corpus+", whose records the corpus is to have")

// truth is why a cell is red.
type truth struct {
	// Cause is why, in the words of a person.
	Cause string `json:"cause"`
	// Culprits are the components, webhooks and steps that a sentence may name as the one that did it.
	Culprits []string `json:"culprits"`
	// Said is a pattern of the sentence that has the true cause. If unset, no sentence is expected to have it.
	Said string `json:"said"`
}

// redCell is a red cell of the corpus, as far as its cause needs it.
type redCell struct {
	Result reports.Cell   `json:"result"`
	Events []record.Event `json:"events"`
}

// TestNoCauseIsFalse: of each red cell whose true cause is known, no sentence names anything else as the one
// that did it, and as many as before have the true cause.
func TestNoCauseIsFalse(t *testing.T) {
	t.Parallel()
	if *reportDir != "" {
		gather(t, *reportDir)
	}
	var truths map[string]truth
	text, err := os.ReadFile(filepath.Join(corpus, "truths.yaml"))
	if err == nil {
		err = yaml.UnmarshalStrict(text, &truths)
	}
	if err != nil {
		t.Fatal(err)
	}
	records, _ := filepath.Glob(filepath.Join(corpus, "*.json.gz"))
	if len(records) < 20 || len(records) != len(truths) {
		t.Errorf("%d cells have a record, and %d a cause", len(records), len(truths))
	}
	found := 0
	var all strings.Builder
	for _, file := range records {
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		said := saidOf(t, file)
		for _, who := range accused(said) {
			if !slices.Contains(truths[name].Culprits, who) {
				t.Errorf("%s: %q is named as the one that did it:\n%s\nThe true cause: %s", name, who, strings.Join(said, "\n"), truths[name].Cause)
			}
		}
		switch pattern := truths[name].Said; {
		case pattern == "":
		case regexp.MustCompile(pattern).MatchString(strings.Join(said, "\n")):
			found++
		default:
			t.Errorf("%s: no sentence matches %q:\n%s\nThe true cause: %s", name, pattern, strings.Join(said, "\n"), truths[name].Cause)
		}
		fmt.Fprintf(&all, "%s: %s\n\t%s\n", name, truths[name].Cause, strings.Join(said, "\n\t"))
	}
	if found < explained {
		t.Errorf("%d cells have their true cause, and %d had it before", found, explained)
	}
	golden.Check(t, filepath.Join(corpus, "sentences.txt"), all.String())
}

// saidOf are the sentences about the checks of a cell that do not hold.
func saidOf(t *testing.T, file string) (all []string) {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var c redCell
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		t.Fatal(err)
	}
	for _, k := range of(narrate.Input{Result: c.Result, Events: c.Events}).Checks {
		if k.Cause != "" {
			all = append(all, k.ID+": "+k.Cause)
			all = append(all, k.Because...)
		}
	}
	return all
}

// subject is a component, a webhook, a client or a step at the beginning of a sentence: what did it.
var subject = regexp.MustCompile(`(?:^|^[\w-]+: |; )(etcd|(?:seed/)?kube-(?:apiserver|controller-manager|scheduler)\S*|kubelet\S*|dependency-watchdog|field manager "[^"]*"|(?i:webhook|conversion webhook of) [\w.-]+|(?i:step) \d+ \()`)

// accused are those that sentences name as the ones that did it.
func accused(said []string) (all []string) {
	for _, sentence := range said {
		for _, found := range subject.FindAllStringSubmatch(sentence, -1) {
			all = append(all, strings.ToLower(strings.TrimSuffix(found[1], " (")))
		}
	}
	return all
}

// TestAccused: who is the subject of a sentence did what it says.
func TestAccused(t *testing.T) {
	t.Parallel()
	for sentence, who := range map[string][]string{
		"same: kube-apiserver v1.90.1 lost data.mode":        {"kube-apiserver"},
		"Webhook injector removed data.mode":                 {"webhook injector"},
		"It was 1; field manager \"hpa\" changed it":         {"field manager \"hpa\""},
		"Step 2 (tune: patch) changed data.mode":             {"step 2"},
		"Step 2, tune, was answered 403 Forbidden":           nil,
		"The pod was on kubelet/node-a v1.90.1":              nil,
		"Data.mode changed, with the write of step 2 (tune)": nil,
	} {
		want(t, who, accused([]string{sentence}))
	}
}

// gather takes the red cells of a report into the corpus.
func gather(t *testing.T, dir string) {
	t.Helper()
	var report reports.Report
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range report.Cells {
		if cell.Outcome != reports.Fail && cell.Outcome != reports.Unknown {
			t.Errorf("%s is %s, and not red", cell.ID, cell.Outcome)
			continue
		}
		events, err := record.ReadFile(filepath.Join(dir, filepath.FromSlash(reports.RunDir(cell.ID, 1)), reports.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		c := redCell{Result: reports.Cell{ID: cell.ID, Scenario: cell.Scenario, Axes: cell.Axes, Outcome: cell.Outcome, Reason: cell.Reason}}
		c.Result.Checks = slices.DeleteFunc(cell.Checks, func(k reports.Check) bool {
			return strings.HasPrefix(k.ID, "oracle:") && k.Outcome == reports.Pass
		})
		for _, e := range events {
			if isNeeded(e) {
				c.Events = append(c.Events, e)
			}
		}
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err := json.NewEncoder(w).Encode(c); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil { // writing to a bytes.Buffer cannot fail
			t.Fatal(err)
		}
		golden.Write(t, filepath.Join(corpus, filepath.Base(cell.Scenario)+".json.gz"), packed.String())
	}
}

// isNeeded reports whether a cause may need an event: it needs nothing of how fast the machine was, and
// of the nodes that a rig has.
func isNeeded(e record.Event) bool {
	switch e.Kind {
	case record.Lateness{}.EventKind(), record.LeaseAges{}.EventKind():
		return false
	}
	return true
}
