package narrate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ofNames is a condition on nothing but a name, in which the name is written: nothing that happens
// changes it.
var ofNames = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"\.(?:startsWith|endsWith|contains|matches)\("(?:[^"\\]|\\.)*"\)$`)

// ofName is the name that a condition is about if it is about nothing else.
func (c Compared) ofName() (name string, is bool) {
	found := ofNames.FindStringSubmatch(c.What)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// meaningful are the comparisons that something which happened can change; those of names alone if
// there are no others.
func meaningful(all []Compared) []Compared {
	isOfName := func(c Compared) bool { _, is := c.ofName(); return is }
	if others := slices.DeleteFunc(slices.Clone(all), isOfName); len(others) > 0 {
		return others
	}
	return all
}

// nameFound says that there was something with a name which nothing was to have, or whose name is not
// as all names were to be.
func (t failedCheck) nameFound(c Compared, name string) string {
	_, condition, _ := strings.Cut(c.What, `".`)
	verb := map[bool]string{true: "was there"}[strings.HasSuffix(c.Wanted, "false")]
	if verb == "" {
		return fmt.Sprintf("the name of %s is not as expected at %s (step %d): %s", objectWords(name), moment(t.to), t.step, condition)
	}
	if mode, _ := windowOf(t.Expected); mode == "within" {
		verb = "was still there"
	}
	said := fmt.Sprintf("%s %s at %s (step %d)", objectWords(name), verb, moment(t.to), t.step)
	if states := t.b.States(name); len(states) > 0 {
		said += fmt.Sprintf(", since %s", moment(t.b.at(states[0].Time)))
	}
	return said + "; expected: none whose name fulfills " + condition
}

// missing says that the object which a comparison is about was not there: it was deleted, or the
// record has never had it.
func (t failedCheck) missing(c Compared) string {
	key, _ := t.b.object(c)
	switch {
	case key == "" || c.Path[0] == "requests" || t.course.cause() != "":
		return ""
	case t.course.gone != "":
		return t.course.gone
	}
	for _, v := range t.b.States(key) {
		if t.b.at(v.Time) <= t.to {
			return ""
		}
	}
	return fmt.Sprintf("until %s, the record has no %s", moment(t.to), objectWords(key))
}
