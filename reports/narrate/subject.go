package narrate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// subject is what the checks are about that decided the outcome of a cell, by names that
// logs have of it.
type subject struct {
	names []string // of pods, nodes and other objects
	// containers are those that the checks name, of the pods that they name.
	containers []string
	deciders   []string // the components whose decisions the checks are about
}

// subject is what the checks that decided are about.
func (b *builder) subject() (s subject) {
	add := func(to *[]string, name string) {
		if name != "" && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	objects := b.objectNames()
	var names reports.Names
	for _, c := range deciding(b.in.Result) {
		names = append(names, b.in.Named[c.ID]...)
		if strings.Contains(c.Expected, "dependents") {
			add(&s.deciders, watchdogName)
		}
	}
	for _, name := range names.InLogs() {
		add(&s.names, name)
	}
	for _, n := range names {
		if word := path.Base(n.Text); n.Variable == "" && objects[word] {
			add(&s.names, word)
		}
	}
	containers := names.Containers()
	for _, r := range b.Runs {
		container := path.Base(r.Container)
		if slices.Contains(containers, container) && slices.Contains(s.names, path.Base(timeline.PodOf(r.Container))) {
			add(&s.containers, container)
		}
	}
	return s
}

// objectNames are the names of the objects in the record, but for those that are of
// namespaces as well.
func (b *builder) objectNames() map[string]bool {
	names := make(map[string]bool)
	for _, v := range b.Versions {
		names[v.Name] = true
	}
	for _, v := range b.Versions {
		delete(names, v.Namespace)
	}
	return names
}

// aboutLogs is what logs are searched for.
func (b *builder) aboutLogs() []string {
	if len(b.logFiles) == 0 {
		return nil
	}
	return b.subject().names
}

// subjectIn is a subject as one log has it.
type subjectIn struct {
	names, containers []*regexp.Regexp
	// all is true for the log of a component whose decisions the subject is.
	all bool
}

// in is the subject as the log of a component names it. Containers count where the log has
// lines of them.
func (s subject) in(component string, lines []logLine) subjectIn {
	of := subjectIn{names: wholeNames(s.names), containers: wholeNames(s.containers), all: slices.Contains(s.deciders, path.Base(component))}
	if !slices.ContainsFunc(lines, of.isNamed) {
		of.containers = nil
	}
	return of
}

// wholeNames find names that are not parts of longer ones.
func wholeNames(names []string) (all []*regexp.Regexp) {
	for _, name := range names {
		all = append(all, regexp.MustCompile(`(?:^|[^\w.-])`+regexp.QuoteMeta(name)+`(?:$|[^\w.-]|_)`))
	}
	return all
}

func (s subjectIn) isKnown() bool { return s.all || len(s.names) > 0 }

func (s subjectIn) isNamed(line logLine) bool {
	return s.all || place(s.names, line.whole) != nil && (len(s.containers) == 0 || place(s.containers, line.whole) != nil)
}

// place is where the first of some names is in a text; nil if none is there.
func place(names []*regexp.Regexp, text string) (at []int) {
	for _, name := range names {
		if found := name.FindStringIndex(text); found != nil && (at == nil || found[0] < at[0]) {
			at = found
		}
	}
	return at
}

// shortened is a line of a bounded length in which a name of the subject stays.
func (s subjectIn) shortened(text string) string {
	limit := maxText
	for _, names := range [][]*regexp.Regexp{s.names, s.containers} {
		if at := place(names, text); at != nil {
			limit = max(limit, min(at[1], maxMessage))
		}
	}
	return shortened(text, limit)
}
