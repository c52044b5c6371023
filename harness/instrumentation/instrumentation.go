// Package instrumentation reads from the sources of a release which metrics its components declare: the options of
// k8s.io/component-base/metrics and of Prometheus, and descriptions that are made from names.
package instrumentation

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
)

// Metric is a metric that sources declare.
type Metric struct {
	// Name is how a component exposes it, with namespace and subsystem.
	Name string
	// Short are what it is called without these.
	Short []string
	// Samples is true if it is a histogram or a summary, which is exposed as several metrics whose names are longer.
	Samples bool
}

// Is reports whether a name is that of the metric, or of a sample of it.
func (m Metric) Is(name string) bool {
	return m.Name == name || m.Samples && slices.Contains([]string{m.Name + "_bucket", m.Name + "_count", m.Name + "_sum"}, name)
}

// Sources are modules by their paths.
type Sources map[string]fs.FS

// Metrics are the metrics that modules declare, sorted by name, each once. Names that are put together at run time are left out.
func (s Sources) Metrics() (all []Metric, _ error) {
	r := reader{Sources: s, constants: make(map[string]map[string]ast.Expr)}
	for module, files := range s {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains([]string{"vendor", "testdata", "test", "third_party", "hack"}, entry.Name()):
				return fs.SkipDir
			case entry.IsDir() || !isSource(name):
				return nil
			}
			text, err := fs.ReadFile(files, name)
			if err != nil || !mayDeclare(string(text)) {
				return err
			}
			return r.read(path.Join(module, path.Dir(name)), name, text)
		})
		if err != nil {
			return nil, fmt.Errorf("reading the metrics of %s: %w", module, err)
		}
	}
	slices.SortFunc(r.found, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(r.found, func(a, b Metric) bool { return a.Name == b.Name }), nil
}

func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(path.Base(name), "zz_generated")
}

func mayDeclare(text string) bool {
	return strings.Contains(text, "Opts{") || strings.Contains(text, "NewDesc(")
}

// reader reads packages. Constants are read once a name needs those of their package.
type reader struct {
	Sources

	constants map[string]map[string]ast.Expr // by package
	found     []Metric
}

// read reads the metrics of a file of a package.
func (r *reader) read(pkg, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	in := scope{reader: r, pkg: pkg, imports: apitypes.Imports(file)}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			in.options(n)
		case *ast.CallExpr:
			in.description(n)
		}
		return true
	})
	return nil
}

// scope is where a name is.
type scope struct {
	*reader

	pkg     string
	imports map[string]string // path by name
}

// options adds the metric of options such as CounterOpts. Some options are not of a metric, and have no name.
func (s scope) options(lit *ast.CompositeLit) {
	of := named(lit.Type)
	if !strings.HasSuffix(of, "Opts") {
		return
	}
	var parts [3]string
	for _, e := range lit.Elts {
		field, is := e.(*ast.KeyValueExpr)
		if !is {
			return
		}
		if n := slices.Index([]string{"Namespace", "Subsystem", "Name"}, named(field.Key)); n >= 0 {
			if parts[n], is = s.text(field.Value); !is {
				return
			}
		}
	}
	s.add(strings.Contains(of, "Histogram") || strings.Contains(of, "Summary"), parts[:]...)
}

// description adds the metric of a call of NewDesc, whose first argument is its name, or a call of BuildFQName.
func (s scope) description(call *ast.CallExpr) {
	if named(call.Fun) != "NewDesc" || len(call.Args) == 0 {
		return
	}
	args := call.Args[:1]
	if built, is := args[0].(*ast.CallExpr); is && named(built.Fun) == "BuildFQName" {
		args = built.Args
	}
	parts := make([]string, len(args))
	for n, arg := range args {
		var is bool
		if parts[n], is = s.text(arg); !is {
			return
		}
	}
	s.add(false, parts...)
}

// add adds a metric by namespace, subsystem and name, of which some may be empty.
func (s scope) add(samples bool, parts ...string) {
	name := parts[len(parts)-1]
	if name == "" {
		return
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
	m := Metric{Name: strings.Join(parts, "_"), Samples: samples}
	for n := 1; n < len(parts); n++ {
		m.Short = append(m.Short, strings.Join(parts[n:], "_"))
	}
	s.found = append(s.found, m)
}

// named is the name of a type, a function or a field, without its package.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// text is the value of a constant expression.
func (s scope) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		v := constant.MakeFromLiteral(e.Value, e.Kind, 0)
		return constant.StringVal(v), v.Kind() == constant.String
	case *ast.ParenExpr:
		return s.text(e.X)
	case *ast.BinaryExpr:
		left, is := s.text(e.X)
		right, also := s.text(e.Y)
		return left + right, is && also && e.Op == token.ADD
	case *ast.Ident:
		return s.constant(s.pkg, e.Name)
	case *ast.SelectorExpr:
		return s.constant(s.imports[named(e.X)], e.Sel.Name)
	}
	return "", false
}

// constant is the value of a constant of a package, which is made of literals and others of the package.
func (r *reader) constant(pkg, name string) (string, bool) {
	had, read := r.constants[pkg]
	if !read {
		had = r.declared(pkg)
		r.constants[pkg] = had
	}
	value, is := had[name]
	if !is {
		return "", false
	}
	delete(had, name) // one that is made of itself ends
	defer func() { had[name] = value }()
	return scope{reader: r, pkg: pkg}.text(value)
}

// declared are the constants and variables of a package that have a value. A package that is not there, or can't be parsed, has none.
func (r *reader) declared(pkg string) map[string]ast.Expr {
	all := make(map[string]ast.Expr)
	for module, files := range r.Sources {
		below, is := strings.CutPrefix(pkg, module+"/")
		if !is {
			continue
		}
		names, _ := fs.Glob(files, path.Join(below, "*.go"))
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil || !isSource(name) {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			if err != nil {
				continue
			}
			for _, d := range file.Decls {
				values(d, all)
			}
		}
	}
	return all
}

// values adds the constants and variables of a declaration.
func values(d ast.Decl, all map[string]ast.Expr) {
	gen, is := d.(*ast.GenDecl)
	if !is {
		return
	}
	for _, spec := range gen.Specs {
		of, is := spec.(*ast.ValueSpec)
		if !is || len(of.Values) != len(of.Names) {
			continue
		}
		for n, name := range of.Names {
			all[name.Name] = of.Values[n]
		}
	}
}
