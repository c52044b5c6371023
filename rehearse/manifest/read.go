package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skewrig/skewrig/harness/strict"
)

// Read returns the objects of a text, in its order, without what a server sets, and the documents that are left out. Objects
// that no client stores are left out without a problem: see Input. The text is YAML or JSON, in one or several documents.
func Read(file string, text []byte) ([]Object, []Problem) {
	r := parse(file, text)
	in := settle(r.objects)
	return in.Objects, append(r.problems, in.Problems...)
}

// reading is what a text has, before objects are compared with each other.
type reading struct {
	file      string
	objects   []Object
	problems  []Problem
	documents int

	// template is the file of a chart that the last comment of helm names.
	template string
	// unrendered is true after a document that is a template, which may be followed by the rest of it.
	unrendered bool
}

func parse(file string, text []byte) *reading {
	r := &reading{file: file}
	text = bytes.TrimPrefix(text, bom)
	if why := notText(text); why != "" {
		r.problem(Place{File: file, Line: 1, Document: 1}, "", "%s", why)
		return r
	}
	for _, c := range split(text) {
		if c.template != "" {
			r.template = c.template
		}
		if len(c.text) == 0 {
			continue
		}
		if r.chunk(c); r.documents > maxDocuments {
			break
		}
	}
	r.bound()
	return r
}

const (
	// maxDocuments is how many documents a file may have. A List is one.
	maxDocuments = 100_000
	// maxProblems is how many problems of a file are listed.
	maxProblems = 200
)

// bound shortens the problems of a file.
func (r *reading) bound() {
	if more := len(r.problems) - maxProblems; more > 0 {
		last := r.problems[maxProblems]
		last.Object, last.Why = "", fmt.Sprintf("there are %d more problems from here on, not listed", more)
		r.problems = append(r.problems[:maxProblems:maxProblems], last)
	}
	if r.documents > maxDocuments {
		r.problem(Place{File: r.file, Line: 1, Document: maxDocuments + 1}, "", "the file has more than %d documents: the rest is left out", maxDocuments)
	}
}

func notText(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return "the text is UTF-16: save it as UTF-8"
	case !utf8.Valid(text):
		return "this is no text in UTF-8"
	}
	return ""
}

func (r *reading) problem(at Place, object, format string, args ...any) {
	r.problems = append(r.problems, Problem{Place: at, Object: object, Why: fmt.Sprintf(format, args...)})
}

// place begins the next document.
func (r *reading) place(line int) Place {
	r.documents++
	return Place{File: r.file, Line: line, Document: r.documents, Template: r.template}
}

func (r *reading) chunk(c chunk) {
	switch content := bytes.TrimSpace(c.text); {
	case content[0] == '{' && !bytes.HasPrefix(content, []byte("{{")):
		if r.json(c) {
			return
		}
	case content[0] == '[':
		r.problem(r.place(c.line), "", "not a Kubernetes object but a list of JSON: write the objects one after the other, or as the items of a List")
		return
	}
	at := r.place(c.line)
	value, faults := decodeYAML(c.text)
	if faults != nil {
		r.faults(at, c, faults)
		return
	}
	r.unrendered = false
	r.value(at, value, func(n int) []int { return shifted(yamlItemLines(c.text, n), c.line) })
}

// json reads a text of one or several JSON objects. It returns false for one that may be YAML: an object in braces.
func (r *reading) json(c chunk) bool {
	first, counted := true, c.line
	from := 0
	failed, err := values(c.text, func(text []byte, at int) bool {
		counted += bytes.Count(c.text[from:at], []byte("\n"))
		from, first = at, false
		r.jsonValue(text, counted)
		return r.documents <= maxDocuments
	})
	if err != nil && first {
		return false
	}
	if err != nil {
		f := jsonFault(c.text, err)
		r.problem(r.place(c.line+cmp.Or(f.line, lineAt(c.text, failed))-1), "", "%s", f.why)
	}
	return true
}

func (r *reading) jsonValue(text []byte, line int) {
	at := r.place(line)
	value, faults := decodeJSON(text)
	if faults != nil {
		r.faults(at, chunk{text: text, line: line}, faults)
		return
	}
	r.value(at, value, func(int) []int { return shifted(jsonItemLines(text), line) })
}

// shifted returns lines of a text that begins in a line of its file.
func shifted(lines []int, begin int) []int {
	for i := range lines {
		lines[i] += begin - 1
	}
	return lines
}

// maxFaults is how many faults of a document are reported.
const maxFaults = 5

func (r *reading) faults(at Place, c chunk, faults []fault) {
	if isTemplate(c.text) {
		if !r.unrendered {
			r.problem(at, "", aTemplate)
		}
		r.unrendered = true
		return
	}
	for i, f := range faults {
		if i == maxFaults {
			r.problem(at, "", "%d more keys or values are wrong", len(faults)-i)
			return
		}
		where := at
		if f.line > 0 {
			where.Line = c.line + f.line - 1
		}
		r.problem(where, "", "%s", f.why)
	}
}

const aTemplate = "this is a template: render it with helm template first"

// isTemplate reports whether a text that is no YAML has actions of Go templates.
func isTemplate(text []byte) bool {
	_, after, found := bytes.Cut(text, []byte("{{"))
	return found && bytes.Contains(after, []byte("}}"))
}

// value adds what a document is decoded to. lines returns the lines of the items of a List, if that is known.
func (r *reading) value(at Place, value any, lines func(n int) []int) {
	object, is := value.(map[string]any)
	if !is {
		if value != nil {
			r.problem(at, "", "not a Kubernetes object but %s", typeOf(value))
		}
		return
	}
	if why := notKubernetes(object); why != "" {
		r.problems = append(r.problems, Problem{Place: at, Why: why, Harmless: true})
		return
	}
	items, is := itemsOf(object)
	if !is {
		r.object(at, object)
		return
	}
	if len(items) == 0 {
		return
	}
	known := lines(len(items))
	for i, item := range items {
		place := at
		if len(known) == len(items) {
			place.Line = known[i]
		}
		r.item(place, object, i, item)
	}
}

// item adds an item of a List. Those of a PodList may be without their kind.
func (r *reading) item(at Place, list map[string]any, i int, item any) {
	object, is := item.(map[string]any)
	if !is {
		r.problem(at, text(list, "kind"), "items[%d] is not a Kubernetes object but %s", i, typeOf(item))
		return
	}
	kind := strings.TrimSuffix(text(list, "kind"), "List")
	if kind != "" && object["kind"] == nil && object["apiVersion"] == nil {
		object["apiVersion"], object["kind"] = list["apiVersion"], kind
	}
	r.value(at, object, func(int) []int { return nil })
}

// itemsOf returns the items of a List, and false for any other object.
func itemsOf(object map[string]any) (items []any, is bool) {
	if !strings.HasSuffix(text(object, "kind"), "List") {
		return nil, false
	}
	items, is = object["items"].([]any)
	_, found := object["items"]
	return items, is || found && object["items"] == nil
}

func (r *reading) object(at Place, object map[string]any) {
	name := calledBy(object)
	if whys := invalid(object); len(whys) > 0 {
		for _, why := range whys {
			r.problem(at, name, "%s", why)
		}
		return
	}
	if body, err := json.Marshal(object); err == nil && len(body) > maxBody {
		r.problem(at, name, "it has %d MB, and API servers take at most %d MB", len(body)/1e6, maxBody/1_000_000)
		return
	}
	r.objects = append(r.objects, Object{Place: at, Hook: hookOf(object), Object: object})
}

// maxBody is the longest body of a request that API servers take, in bytes: MaxRequestBodyBytes in
// k8s.io/apiserver/pkg/server/config.go.
const maxBody = 3 << 20

// calledBy is "Deployment web", as far as it is known, and safe to print.
func calledBy(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	return strings.TrimSpace(strict.InQuotes(text(object, "kind")) + " " + strict.InQuotes(text(metadata, "name")))
}

// text returns a field that is a string, or "".
func text(object map[string]any, field string) string {
	s, _ := object[field].(string)
	return s
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}
