package object

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/apitypes"
)

// repair changes an object.
type repair func()

// repairs are what may make up for a cause for which an API server refuses an object, the likeliest
// first. The field at the wanted path is not taken away.
func (m Maker) repairs(kind apitypes.Kind, object map[string]any, wanted string, cause metav1.StatusCause) []repair {
	at, is := m.find(kind, object, cause.Field)
	if !is {
		return nil
	}
	var all []repair
	take := func() { delete(at.in, at.name) }
	mayTake := !within(cause.Field, wanted)
	if cause.Type == metav1.CauseTypeForbidden && mayTake {
		all = append(all, take)
	}
	if b, is := m.Hints.beside(at.of, at.field); is && cause.Type == metav1.CauseTypeFieldValueNotFound {
		all = append(all, func() { b.add(at) })
	}
	if s, is := m.structureAt(at); is {
		all = append(all, m.named(s, cause.Message, wanted)...)
	}
	for _, v := range m.values(at, cause) {
		all = append(all, func() { m.set(at, v) })
	}
	around := append(slices.Clip(at.above), structure{at.of, at.in})
	for _, s := range slices.Backward(around) {
		all = append(all, m.named(s, strings.ReplaceAll(cause.Message, at.name, ""), wanted)...)
	}
	if mayTake {
		all = append(all, take)
	}
	return all
}

// named set what a message names of a structure, or take it away if it is set.
func (m Maker) named(s structure, message, wanted string) (all []repair) {
	for _, word := range words.FindAllString(message, -1) {
		f, known := m.API.Field(s.of, word)
		switch _, set := s.in[word]; {
		case !known:
		case !set:
			all = append(all, func() { s.in[word] = m.value(s.of, f) })
		case !slices.Contains(strings.FieldsFunc(wanted, func(r rune) bool { return strings.ContainsRune(".[]{}", r) }), word):
			all = append(all, func() { delete(s.in, word) })
		}
	}
	return all
}

// values are those that a field may be given.
func (m Maker) values(at spot, cause metav1.StatusCause) (all []any) {
	if cause.Type == metav1.CauseTypeFieldValueRequired {
		all = append(all, m.single(at.field.Type, m.API.Resolve(at.field.Type)))
		if v, is := m.Hints.of(at.of, at.field); is {
			all = []any{v}
		}
	}
	message := cause.Message
	if _, list, is := strings.Cut(message, "supported values: "); is {
		message = list
	}
	var guesses []any
	for _, quoted := range quotes.FindAllStringSubmatch(message, -1) {
		guesses = append(guesses, quoted[1])
	}
	for _, found := range numbers.FindAllString(message, -1) {
		if n, err := strconv.ParseInt(found, 10, 64); err == nil {
			guesses = append(guesses, n, n+1, n-1)
		}
	}
	guesses = append(guesses, usual...)
	for _, v := range guesses {
		if m.fits(at.field, v) && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

var (
	words   = regexp.MustCompile(`[a-zA-Z]+`)
	quotes  = regexp.MustCompile("[\"'`]([^\"'` ]+)[\"'`]")
	numbers = regexp.MustCompile(`\b\d+\b`)
	// usual are values of most forms that the API has: names, paths, numbers.
	usual = []any{"a", "a.example.com", "1.0.0", "example.com/a", "/a", "1", "1Gi", "10.0.0.1", "127.0.0.1", int64(0), int64(1), int64(2), int64(8080), true, false}
)

// fits reports whether a field can have a value, as far as the types say it.
func (m Maker) fits(f apitypes.Field, v any) bool {
	name := m.API.Resolve(f.Type).Name
	switch v.(type) {
	case string:
		return name == "string" || strings.HasSuffix(name, ".IntOrString") || strings.HasSuffix(name, ".Quantity")
	case int64:
		return strings.HasPrefix(name, "int") || strings.HasPrefix(name, "uint") || strings.HasSuffix(name, ".IntOrString")
	case bool:
		return name == "bool"
	default:
		return true
	}
}

// set sets a field, or the one of its values that is meant.
func (m Maker) set(at spot, v any) {
	switch many := at.in[at.name].(type) {
	case []any:
		if at.last.index >= 0 && at.last.index < len(many) {
			many[at.last.index] = v
			return
		}
	case map[string]any:
		if at.last.key != "" {
			many[at.last.key] = v
			return
		}
	}
	ref := m.API.Resolve(at.field.Type)
	if at.last.key != "" && ref.Map {
		at.in[at.name] = map[string]any{at.last.key: v}
		return
	}
	if _, is := m.Hints.of(at.of, at.field); is {
		at.in[at.name] = v
		return
	}
	at.in[at.name] = many(ref, v)
}

var indices = regexp.MustCompile(`\[[^\]]*\]|\{\}`)

// within reports whether a wanted path leads through another one, or to it.
func within(path, wanted string) bool {
	path, wanted = indices.ReplaceAllString(path, ""), indices.ReplaceAllString(wanted, "")
	return path == wanted || strings.HasPrefix(wanted, path+".")
}
