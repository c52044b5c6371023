package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/skewrig/skewrig/harness/golden"
)

// TestTheFieldsOfItsPage: docs/fields.md has the fields that the compiler of expressions knows.
func TestTheFieldsOfItsPage(t *testing.T) {
	t.Parallel()
	shapes, err := newShapes()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`# Fields of expressions

Variables of expressions, and the fields of their types. A test compares this page with the compiler of expressions;
the section Checks of the manual (` + "`skewrig docs language`" + `) has the meaning. API objects (any) have the fields of their API.
A field that was left out is absent: test it with ` + "`has(x.y)`" + `, or write ` + "`x.?y.orValue([])`" + `. A field of an API object may
also be null, which is not absent: test it with ` + "`has(x.y) && x.y != null`" + `.

| variable | by the name of a | value |
|---|---|---|
`)
	for _, v := range variables {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, v.Noun, nameOf(shapes.of(v.of)))
	}
	b.WriteString("| `since` | | number: when the step began, in seconds since the cell did |\n")
	for _, name := range slices.Sorted(maps.Keys(shapes.fields)) {
		fmt.Fprintf(&b, "\n## %s\n\n| field | value |\n|---|---|\n", nameOf(cel.ObjectType(name)))
		for _, field := range slices.Sorted(maps.Keys(shapes.fields[name])) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", field, nameOf(shapes.fields[name][field]))
		}
	}
	golden.Check(t, "../../docs/fields.md", b.String())
}

// nameOf is a type in words.
func nameOf(t *cel.Type) string {
	switch t.Kind() {
	case cel.ListKind:
		return "list of " + nameOf(t.Parameters()[0])
	case cel.MapKind:
		return "map of " + nameOf(t.Parameters()[1])
	case cel.IntKind:
		return "whole number"
	case cel.DoubleKind:
		return "number"
	case cel.StringKind:
		return "text"
	case cel.BoolKind:
		return "true or false"
	case cel.DynKind, cel.AnyKind:
		return "any"
	default:
		name := t.String()
		return name[strings.LastIndexByte(name, '.')+1:]
	}
}
