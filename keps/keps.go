// Package keps reads enhancement proposals from a checkout of the enhancements repository, and answers their production readiness
// questionnaire from what sweeps came to. It is pure.
package keps

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// KEP is an enhancement proposal: what its kep.yaml says of it, and what its README answers.
type KEP struct {
	// Number is that of its issue. If it is 0, there is no proposal, and only a gate.
	Number int    `json:"number,omitempty"`
	Title  string `json:"title"`
	SIG    string `json:"sig,omitempty"`
	Status string `json:"status,omitempty"`
	Stage  string `json:"stage,omitempty"`
	// Milestone is the release that it is worked on for, such as v1.37.
	Milestone string `json:"milestone,omitempty"`
	// Stages are the milestones of its stages, past and planned, sorted.
	Stages []string `json:"stages,omitempty"`
	Gates  []Gate   `json:"gates,omitempty"`
	// Metrics are those that kep.yaml names.
	Metrics []string `json:"metrics,omitempty"`
	// Dir is its directory in the checkout.
	Dir string `json:"dir,omitempty"`
	// Written are its own answers, by question.
	Written map[string]Written `json:"-"`
}

// Gate is a feature gate of a proposal, with the components that have it, as the proposal says.
type Gate struct {
	Name       string   `json:"name"`
	Components []string `json:"components,omitempty"`
}

// Written is what a proposal answers to a question.
type Written struct {
	// Text is the answer on one line, and Line where it begins. If Text is empty, there is none.
	Text string `json:"text,omitempty"`
	Line int    `json:"line,omitempty"`
}

// ID is how a proposal is named: KEP-4939, or its gate if it has no number.
func (k KEP) ID() string {
	if k.Number == 0 {
		return k.Title
	}
	return fmt.Sprintf("KEP-%d", k.Number)
}

// Find is the proposal that a word names: 4939, KEP-4939, or a gate of it.
func Find(all []KEP, word string) (KEP, bool) {
	number := strings.TrimPrefix(strings.ToUpper(word), "KEP-")
	n := slices.IndexFunc(all, func(k KEP) bool {
		return strconv.Itoa(k.Number) == number || slices.ContainsFunc(k.Gates, func(g Gate) bool { return g.Name == word })
	})
	if n < 0 {
		return KEP{}, false
	}
	return all[n], true
}

// Of are the proposals that are worked on for a milestone, or that had a stage in it and have moved to a later one, by number.
func Of(all []KEP, milestone string) []KEP {
	minor := release.Version(milestone).Minor()
	return reports.Only(all, func(k KEP) bool {
		return k.Milestone == milestone || slices.Contains(k.Stages, milestone) && release.Version(k.Milestone).Minor() > minor
	})
}

// Read reads all proposals below a directory, sorted by number. A proposal that can't be read is an error, and the rest is returned.
func Read(dir fs.FS) (all []KEP, _ error) {
	var problems []error
	err := fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(file) != "kep.yaml" || strings.HasPrefix(path.Base(path.Dir(file)), "NNNN") {
			return err
		}
		k, err := read(dir, path.Dir(file))
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file, err))
			return nil
		}
		all = append(all, k)
		return nil
	})
	slices.SortStableFunc(all, func(a, b KEP) int { return cmp.Compare(a.Number, b.Number) })
	return all, errors.Join(append(problems, err)...)
}

func read(dir fs.FS, in string) (k KEP, _ error) {
	text, err := fs.ReadFile(dir, path.Join(in, "kep.yaml"))
	if err != nil {
		return k, err
	}
	// Numbers, versions and dates are written in every way: each value is taken as text.
	var file map[string]any
	if err := yaml.Unmarshal(quoted(text), &file); err != nil {
		return k, err
	}
	k = KEP{
		Title: word(file["title"]), SIG: word(file["owning-sig"]), Status: word(file["status"]), Stage: word(file["stage"]),
		Milestone: word(file["latest-milestone"]), Dir: in, Metrics: words(file["metrics"]), Gates: gatesOf(file["feature-gates"]),
	}
	stages, _ := file["milestone"].(map[string]any)
	for _, milestone := range stages {
		k.Stages = append(k.Stages, word(milestone))
	}
	slices.Sort(k.Stages)
	if k.Number, err = strconv.Atoi(word(file["kep-number"])); err != nil {
		return k, fmt.Errorf("kep-number: %q is no number", word(file["kep-number"]))
	}
	readme, err := fs.ReadFile(dir, path.Join(in, "README.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k.Written = written(string(readme))
	return k, nil
}

// date is a value that YAML may take for a date, also one that is none.
var date = regexp.MustCompile(`(?m)^([a-z-]+: *)(\d{4}-\d{2}-\d{2})\s*$`)

func quoted(text []byte) []byte { return date.ReplaceAll(text, []byte(`$1"$2"`)) }

func word(v any) string {
	if v == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(v))
}

func words(v any) (all []string) {
	list, _ := v.([]any)
	for _, one := range list {
		if name := metric.FindString(word(one)); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// metric is the name of a metric, and gate that of a feature gate.
var (
	metric = regexp.MustCompile(`[a-z][a-z0-9]*(_[a-z0-9]+)+`)
	gate   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$`)
)

// gatesOf are the gates of kep.yaml. Some list names without components, and some say none.
func gatesOf(v any) (all []Gate) {
	list, _ := v.([]any)
	for _, one := range list {
		g := Gate{Name: word(one)}
		if fields, is := one.(map[string]any); is {
			g.Name = word(fields["name"])
			components, _ := fields["components"].([]any)
			for _, c := range components {
				// Some say more: "kube-controller-manager via client-go library".
				name, _, _ := strings.Cut(word(c), " ")
				g.Components = append(g.Components, name)
			}
		}
		if gate.MatchString(g.Name) && g.Name != "None" {
			all = append(all, g)
		}
	}
	return all
}

// written are the answers of a README, by question.
func written(text string) map[string]Written {
	questions := make(map[string]string) // by letters
	for _, s := range prr.Questionnaire() {
		for _, q := range s.Questions {
			questions[letters(q)] = q
		}
	}
	all := make(map[string]Written)
	var question string
	for _, line := range lines(ledger.Sentences(text)) {
		if asked, is := questions[letters(line.Text)]; is || strings.HasPrefix(line.Text, "#") {
			question = asked
			continue
		}
		if question == "" {
			continue
		}
		w := all[question]
		if w.Line == 0 {
			w.Line = line.Line
		}
		w.Text = strings.TrimSpace(w.Text + " " + line.Text)
		all[question] = w
	}
	return all
}

// lines joins sentences that begin on the same line: a heading may have two questions.
func lines(sentences []ledger.Sentence) (all []ledger.Sentence) {
	for _, s := range sentences {
		if n := len(all) - 1; n >= 0 && all[n].Line == s.Line {
			all[n].Text += " " + s.Text
			continue
		}
		all = append(all, s)
	}
	return all
}

var noLetters = regexp.MustCompile(`[^a-z]+`)

func letters(text string) string { return noLetters.ReplaceAllString(strings.ToLower(text), "") }
