package mutation

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Mutant is one change of a file.
type Mutant struct {
	// ID selects it when the component runs.
	ID int
	// File is a path in the component's module.
	File string
	Line int
	// Func is the function that it is in.
	Func string
	// Change says what is different, in words.
	Change string
}

// Name identifies a mutant in a report, as long as its file stays the same.
func (m Mutant) Name() string { return fmt.Sprintf("%s:%d %s #%d", m.File, m.Line, m.Change, m.ID) }

// File is a file of which mutants are made.
type File struct {
	Path string
	Text []byte
	// Types are those of constants that are not of the type that their value
	// has by default.
	Types map[string]string
}

// Runtime is what all mutants call. It is put into a file of a package that
// all mutated ones may import.
//
//go:embed runtime.go.txt
var runtime string

// WithRuntime returns a file of the component with the functions in it that
// mutants call.
func WithRuntime(text []byte) ([]byte, error) {
	imports, functions, _ := strings.Cut(runtime, "// Functions\n")
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", text, parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	clause := fset.Position(parsed.Name.End()).Offset
	return slices.Concat(text[:clause], []byte("\n\n"+imports), text[clause:], []byte("\n"+functions)), nil
}

// Generate returns the text of a file with all of its mutants, the first of
// which has the id that is given. Helpers is the import path of the package that
// has the runtime.
func Generate(f File, helpers string, first int) ([]byte, []Mutant, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, f.Path, f.Text, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", f.Path, err)
	}
	g := &generator{File: f, fset: fset, next: first}
	for _, d := range parsed.Decls {
		g.declaration(d)
	}
	if len(g.mutants) > 0 {
		g.insert(parsed.Name.End(), "\n\nimport mutant "+fmt.Sprintf("%q", helpers), opens)
	}
	return g.apply(), g.mutants, nil
}

// generator makes the mutants of one file.
type generator struct {
	File

	fset    *token.FileSet
	in      string // the function
	next    int    // id
	mutants []Mutant
	edits   []edit
}

// edit replaces a part of the text, which is empty for an insertion.
type edit struct {
	from, to int
	text     string
	kind     editKind
}

type editKind int

// What is inserted at one place comes in this order.
const (
	closes editKind = iota
	opens
)

func (g *generator) offset(p token.Pos) int { return g.fset.Position(p).Offset }

func (g *generator) insert(at token.Pos, text string, kind editKind) {
	g.edits = append(g.edits, edit{from: g.offset(at), to: g.offset(at), text: text, kind: kind})
}

func (g *generator) replace(from, to token.Pos, text string) {
	g.edits = append(g.edits, edit{from: g.offset(from), to: g.offset(to), text: text, kind: opens})
}

// wrap puts text around a node. What is wrapped first is the outermost.
func (g *generator) wrap(n ast.Node, before, after string) {
	g.insert(n.Pos(), before, opens)
	g.insert(n.End(), after, closes)
}

// source is the text of a node as it was.
func (g *generator) source(n ast.Node) string {
	return string(g.Text[g.offset(n.Pos()):g.offset(n.End())])
}

// mutant adds one and returns its id.
func (g *generator) mutant(at token.Pos, change string, args ...any) int {
	id := g.next
	g.next++
	g.mutants = append(g.mutants, Mutant{
		ID: id, File: g.Path, Line: g.fset.Position(at).Line, Func: g.in, Change: fmt.Sprintf(change, args...),
	})
	return id
}

// apply makes the edits. At one place the inner ends come before the outer ones,
// and after both the outer beginnings before the inner ones.
func (g *generator) apply() []byte {
	order := make(map[*edit]int)
	var edits []*edit
	for i := range g.edits {
		order[&g.edits[i]] = i
		edits = append(edits, &g.edits[i])
	}
	slices.SortFunc(edits, func(a, b *edit) int {
		sequence := cmp.Compare(order[a], order[b])
		if a.kind == closes {
			sequence = -sequence
		}
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.kind, b.kind), sequence)
	})
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, g.Text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, g.Text[at:]...)
}

func (g *generator) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.in = functionName(d)
		if d.Body != nil {
			g.block(d.Body.List)
		}
	case *ast.GenDecl:
		g.in = ""
		g.values(d)
	}
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "." + d.Name.Name
	}
	return d.Name.Name
}
