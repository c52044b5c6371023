package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
)

// Condition says for which cells, or at which point of one, something holds:
// "kubelet < 1.37 and gate == true". Names are axes or components, whose value
// is the release that is in force. A release written without its patch stands
// for all of that minor version. What it is smaller or greater than can be another name:
// "a >= b".
type Condition []comparison

// supported is what a condition on the axes calls a rig that the version skew policy allows.
const supported = "supported"

// names reports whether a condition has something to do with a name.
func (c Condition) names(name string) bool {
	return slices.ContainsFunc(c, func(one comparison) bool { return one.name == name })
}

type comparison struct {
	name string
	release.Comparison
}

// ParseCondition reads a condition.
func ParseCondition(text string) (Condition, error) {
	var c Condition
	for part := range strings.SplitSeq(text, " and ") {
		words := strings.Fields(part)
		if len(words) == 1 && words[0] == supported {
			words = []string{supported, "==", "true"}
		}
		if len(words) != 3 || !release.IsOperator(words[1]) {
			return nil, fmt.Errorf("%s is not a comparison: write it like kubelet < 1.37, and join several by and", strict.Quote(strings.TrimSpace(part)))
		}
		c = append(c, comparison{words[0], release.Comparison{Operator: words[1], Value: words[2]}})
	}
	return c, nil
}

// Holds evaluates a condition. The values are those of the names that it may
// use. A name that has none, and an order of what has none, are errors.
func (c Condition) Holds(values map[string]string) (bool, error) {
	holds := true
	var mistakes []error
	for _, comparison := range c {
		is, err := comparison.holds(values)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		holds = holds && is
	}
	return holds && len(mistakes) == 0, errors.Join(mistakes...)
}

func (c comparison) holds(values map[string]string) (bool, error) {
	value, known := values[c.name]
	if !known {
		names := slices.Sorted(maps.Keys(values))
		return false, fmt.Errorf("nothing here is called %s: %s", strict.Quote(c.name), strict.DidYouMean(c.name, names))
	}
	if other, is := values[c.Value]; is && c.Operator != "==" && c.Operator != "!=" {
		c.Value = string(release.Version(other).WithoutBuild())
	}
	return c.Holds(value)
}

// names are what a condition of a step or check may use at some point of a cell: its
// axes, and the components of its rig, running or not.
func (r *Rig) names() map[string]string {
	values := make(map[string]string)
	maps.Copy(values, r.axes)
	for _, c := range r.components {
		values[c.Name] = string(c.Version)
	}
	return values
}

// Applies reports whether a step or check is for a rig as it is: whether its
// condition, if it has one, holds.
func (r *Rig) Applies(when string) (bool, error) {
	if when == "" {
		return true, nil
	}
	condition, err := ParseCondition(when)
	if err != nil {
		return false, err
	}
	return condition.Holds(r.names())
}
