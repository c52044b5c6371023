package narrate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// program is what a component runs, in whichever rig it is, and as one of several or alone.
func program(component string) string {
	return record.Program(strings.TrimPrefix(component, "seed/"))
}

// subject is what the checks are about that decided the outcome of a cell, by names that
// logs have of it.
type subject struct {
	names  []string // of pods, nodes and other objects
	fields []string // of these, that the checks compare, as logs name them
	// containers are those that the checks name, of the pods that they name.
	containers []string
	deciders   []string // the components whose decisions the checks are about
	served     bool     // the checks compare a field of an object
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
		if aboutDependents(c) {
			add(&s.deciders, watchdogName)
		}
		for _, of := range b.in.Compared[c.ID] {
			key, _ := b.object(of)
			s.served = s.served || key != ""
			add(&s.fields, b.inLogs(of))
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
	s := b.subject()
	return slices.Concat(s.names, s.fields)
}

// subjectIn is a subject as one log has it.
type subjectIn struct {
	names, fields, containers []namePattern
	// all is true for the log of a component whose decisions the subject is, serves for that of
	// an API server if they compare a field of an object.
	all, serves bool
}

// in is the subject as the log of a component names it. Containers count where the log has
// lines of them, but not for the API server, which has objects.
func (s subject) in(component string, lines []logLine) subjectIn {
	of := subjectIn{names: wholeNames(s.names), fields: fieldNames(s.fields), containers: wholeNames(s.containers), all: slices.Contains(s.deciders, program(component))}
	of.serves = s.served && program(component) == record.APIServer
	hasBoth := func(line logLine) bool {
		return place(of.names, line.whole) != nil && place(of.containers, line.whole) != nil
	}
	if of.serves || !slices.ContainsFunc(lines, hasBoth) {
		of.containers = nil
	}
	return of
}

// namePattern finds a text where it stands alone. Most lines don't have the text, which is
// found out fast.
type namePattern struct {
	text  string
	alone *regexp.Regexp
}

// in is where the word is first in a line; nil if it is not there.
func (w namePattern) in(line string) (at []int) {
	if !strings.Contains(line, w.text) {
		return nil
	}
	return w.alone.FindStringIndex(line)
}

// wholeNames find names that are not parts of longer ones.
func wholeNames(names []string) (all []namePattern) {
	return reports.Each(names, func(name string) namePattern {
		return namePattern{name, regexp.MustCompile(`(?:^|[^\w.-])` + regexp.QuoteMeta(name) + `(?:$|[^\w.-]|_)`)}
	})
}

// fieldNames find fields at the end of a path or alone.
func fieldNames(fields []string) (all []namePattern) {
	return reports.Each(fields, func(field string) namePattern {
		return namePattern{field, regexp.MustCompile(`\b` + regexp.QuoteMeta(field) + `\b`)}
	})
}

func (s subjectIn) isKnown() bool { return s.all || len(s.names) > 0 }

func (s subjectIn) isNamed(line logLine) bool {
	return s.all || place(s.fields, line.whole) != nil || place(s.names, line.whole) != nil && (len(s.containers) == 0 || place(s.containers, line.whole) != nil)
}

// place is where the first of some names is in a text; nil if none is there.
func place(names []namePattern, text string) (at []int) {
	for _, name := range names {
		if found := name.in(text); found != nil && (at == nil || found[0] < at[0]) {
			at = found
		}
	}
	return at
}

// shortened is a line of a bounded length in which a name of the subject stays.
func (s subjectIn) shortened(text string, tone Tone) string {
	limit := maxText
	for _, names := range [][]namePattern{s.names, s.containers, s.fields} {
		if at := place(names, text); at != nil {
			limit = max(limit, min(at[1], maxMessage)+maxCause)
		}
	}
	return excerpt(text, tone, limit)
}
