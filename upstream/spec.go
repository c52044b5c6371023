package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Spec is one of upstream's specs.
type Spec struct {
	// Name is what Ginkgo calls it: the texts of its containers and its own, with their tags.
	Name string `json:"name"`
	// ID is that name as the id of a cell can have it, unique among the specs of a release.
	ID string `json:"id"`
	// Gates are the feature gates that it asks for, sorted.
	Gates []string `json:"gates,omitempty"`
	// Serial is true if no other spec may run beside it.
	Serial bool `json:"serial,omitempty"`
	// Slow is true if it takes minutes.
	Slow bool `json:"slow,omitempty"`
}

// gateLabel begins the label by which a spec asks for a feature gate.
const gateLabel = "FeatureGate:"

// These are the labels of a spec beside which no other may run, and of one that takes minutes.
const (
	serialLabel = "Serial"
	slowLabel   = "Slow"
)

// Specs are the specs of a report, sorted by name. Those of one name are one spec.
func Specs(r Report) []Spec {
	byName := make(map[string]Spec)
	group := make(map[string]string)
	for _, ran := range r {
		s := byName[ran.Name]
		s.Name, s.Serial = ran.Name, s.Serial || slices.Contains(ran.Labels, serialLabel)
		s.Slow = s.Slow || slices.Contains(ran.Labels, slowLabel)
		for _, label := range ran.Labels {
			if gate, is := strings.CutPrefix(label, gateLabel); is && !slices.Contains(s.Gates, gate) {
				s.Gates = append(s.Gates, gate)
			}
		}
		slices.Sort(s.Gates)
		byName[ran.Name], group[ran.Name] = s, ran.Container
	}
	var all []Spec
	taken := make(map[string]int)
	for _, s := range sorted(byName) {
		id := slug(group[s.Name]) + "/" + slug(strings.TrimPrefix(s.Name, group[s.Name]))
		if taken[id]++; taken[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, taken[id])
		}
		s.ID = id
		all = append(all, s)
	}
	return all
}

func sorted(byName map[string]Spec) (all []Spec) {
	for _, s := range byName {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Spec) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

var (
	tag     = regexp.MustCompile(`\[[^\]]*\]`)
	between = regexp.MustCompile(`[^a-z0-9]+`)
)

// maxSlug is how long a segment of an id gets: report directories have it as a name.
const maxSlug = 120

// slug is a text as a segment of an id: without its tags, unless there is nothing else.
func slug(text string) string {
	s := cmp.Or(words(tag.ReplaceAllString(text, " ")), words(text), "spec")
	if len(s) > maxSlug {
		s = strings.TrimRight(s[:maxSlug], "-")
	}
	return s
}

// words are the words of a text, with a hyphen between each two.
func words(text string) string {
	return strings.Trim(between.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// Choice says which specs are wanted.
type Choice struct {
	// Focus matches the names of those that are wanted. If unset, all are.
	Focus *regexp.Regexp
	// Skip matches the names of those that are not wanted in spite of that. If unset, none are.
	Skip *regexp.Regexp
}

// DefaultFocus is what is run if a user does not say what: the specs of conformance, and those
// of probes.
const DefaultFocus = `\[NodeConformance\]|Probing`

// Of returns the specs that are wanted. That there are none is an error.
func (c Choice) Of(specs []Spec) ([]Spec, error) {
	chosen := slices.DeleteFunc(slices.Clone(specs), func(s Spec) bool {
		return c.Focus != nil && !c.Focus.MatchString(s.Name) || c.Skip != nil && c.Skip.MatchString(s.Name)
	})
	switch {
	case len(specs) == 0:
		return nil, errors.New("the release has no specs")
	case len(chosen) == 0:
		return nil, fmt.Errorf("none of the %d specs is selected: --focus and --skip are regular expressions that match their names, such as %q", len(specs), specs[0].Name)
	}
	return chosen, nil
}

// GatesOf are the feature gates that specs ask for, sorted.
func GatesOf(specs []Spec) (gates []string) {
	for _, s := range specs {
		gates = append(gates, s.Gates...)
	}
	slices.Sort(gates)
	return slices.Compact(gates)
}
