package main

import (
	"cmp"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

const module = "github.com/skewrig/skewrig"

// packages are the folders whose types are in the schemas.
var packages = []string{
	"reports", "reports/diff", "reports/finding", "scenarios/action", "scenarios/spec", "scenarios/own",
	"record", "harness/clock", "harness/release",
	"fakeservers/behavior", "rehearse", "rehearse/manifest",
}

// source is what a schema takes from the text of types rather than from the types.
type source struct {
	comments map[string]string
	// constants are the values that are declared of a string type, by the type.
	constants map[string][]any
}

// open are string types that have other values than the constants of them.
var open = map[string]bool{module + "/harness/release.Version": true}

func readSource(root string) (*source, error) {
	s := &source{comments: make(map[string]string), constants: make(map[string][]any)}
	for _, folder := range packages {
		// Paths are joined to the base, so that it takes as many steps down as root
		// has up.
		base := module + strings.Repeat("/x", strings.Count(root, ".."))
		r := new(jsonschema.Reflector)
		if err := r.AddGoComments(base, filepath.Join(root, folder), jsonschema.WithFullComment()); err != nil {
			return nil, err
		}
		for name, comment := range r.CommentMap {
			s.comments[name] = prose(comment)
		}
		if err := s.readConstants(filepath.Join(root, folder), module+"/"+folder); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// prose joins the lines of paragraphs.
func prose(comment string) string {
	paragraphs := strings.Split(comment, "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains(p, "\n\t") && !strings.Contains(p, "\n  ") {
			paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// readConstants gathers the constants of a package that are declared with a type.
func (s *source) readConstants(dir, pkg string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if declared, ok := node.(*ast.ValueSpec); ok {
				s.addConstants(pkg, declared)
			}
			return true
		})
	}
	return nil
}

func (s *source) addConstants(pkg string, declared *ast.ValueSpec) {
	typed, ok := declared.Type.(*ast.Ident)
	if !ok || open[pkg+"."+typed.Name] {
		return
	}
	for _, v := range declared.Values {
		if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				s.constants[pkg+"."+typed.Name] = append(s.constants[pkg+"."+typed.Name], text)
			}
		}
	}
}

// reflect makes the schema of a value's type.
func (s *source) reflect(v any) *jsonschema.Schema {
	r := jsonschema.Reflector{
		ExpandedStruct: true,
		Anonymous:      true,
		CommentMap:     s.comments,
		Mapper:         s.own,
		Namer:          typeName,
	}
	return r.Reflect(v)
}

// define adds a type and those of its parts to definitions, and returns a reference
// to it.
func (s *source) define(definitions jsonschema.Definitions, t reflect.Type) *jsonschema.Schema {
	name := typeName(t)
	own := s.reflect(reflect.Zero(t).Interface())
	maps.Copy(definitions, own.Definitions)
	own.Version, own.Definitions = "", nil
	own.Description = cmp.Or(own.Description, s.comments[t.PkgPath()+"."+t.Name()])
	definitions[name] = own
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// own is the schema of a type for which the type alone does not say enough.
func (s *source) own(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer", Title: "nanoseconds"}
	case reflect.TypeFor[behavior.Duration]():
		return &jsonschema.Schema{Type: "string", Title: "a number and a unit, such as 10s, 1m30s or 250ms"}
	}
	if values := s.constants[t.PkgPath()+"."+t.Name()]; t.Kind() == reflect.String && len(values) > 1 {
		return &jsonschema.Schema{Type: "string", Enum: values}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && !t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// typeName distinguishes types of the same name.
func typeName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

// each calls visit for a schema and all schemas in it, the inner ones first.
func each(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		each(s.Definitions[name], visit)
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			each(p.Value, visit)
		}
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, inner := range list {
			each(inner, visit)
		}
	}
	each(s.Items, visit)
	each(s.AdditionalProperties, visit)
	visit(s)
}
