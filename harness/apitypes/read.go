package apitypes

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"strconv"
	"strings"
)

// Wanted reports whether a file of a package of the API says anything of its types.
func Wanted(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, "types.go") || base == "register.go"
}

// Read reads the packages below a directory, whose import paths begin with a prefix: k8s.io/api.
func (a *API) Read(files fs.FS, prefix string) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !Wanted(name) {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		name = path.Join(prefix, name)
		return a.Add(path.Dir(name), name, text)
	})
}

// Add reads a file of a package, with the name by which Field.File and errors call it.
func (a *API) Add(pkg, name string, text []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("reading the types of the API: %w", err)
	}
	if a.types == nil {
		a.types, a.groups = make(map[string]*Type), make(map[string]string)
	}
	r := reader{api: a, files: set, pkg: pkg, imports: Imports(file), comments: file.Comments}
	var failures []error
	for _, d := range file.Decls {
		if declared, is := d.(*ast.GenDecl); is {
			failures = append(failures, r.declaration(declared))
		}
	}
	return errors.Join(failures...)
}

// reader reads a file.
type reader struct {
	api      *API
	files    *token.FileSet
	pkg      string
	imports  map[string]string // import paths by the names in the file
	comments []*ast.CommentGroup
}

// Imports are the import paths of a file, by the names that they have in it.
func Imports(file *ast.File) map[string]string {
	imports := make(map[string]string)
	for _, i := range file.Imports {
		of, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue // the compiler reports it
		}
		name := path.Base(of)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = of
	}
	return imports
}

func (r *reader) declaration(d *ast.GenDecl) error {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil {
				doc = d.Doc
			}
			if err := r.typeSpec(s, append(r.detached(s, doc), markers(doc)...)); err != nil {
				return err
			}
		case *ast.ValueSpec:
			r.constant(s)
		}
	}
	return nil
}

func (r *reader) typeSpec(s *ast.TypeSpec, markers []string) error {
	t := r.named(s.Name.Name)
	t.Markers = markers
	structure, is := s.Type.(*ast.StructType)
	if !is {
		t.Is = r.ref(s.Type)
		return nil
	}
	t.Fields = nil
	for _, f := range structure.Fields.List {
		field, is, err := r.field(f)
		if err != nil {
			return err
		}
		if is {
			t.Fields = append(t.Fields, field)
		}
	}
	return nil
}

// named is a type of the package, which a constant may have named before it is declared.
func (r *reader) named(name string) *Type {
	full := r.pkg + "." + name
	if r.api.types[full] == nil {
		r.api.types[full] = &Type{Package: r.pkg, Name: name}
	}
	return r.api.types[full]
}

// constant reads the name of a group, and the values of a type.
func (r *reader) constant(s *ast.ValueSpec) {
	for i, name := range s.Names {
		if i >= len(s.Values) {
			return
		}
		literal, is := s.Values[i].(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			continue
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			continue // the compiler reports it
		}
		if of, is := s.Type.(*ast.Ident); is {
			t := r.named(of.Name)
			t.Values = append(t.Values, value)
		} else if name.Name == "GroupName" {
			r.api.groups[r.pkg] = value
		}
	}
}

// field is false of one that is not in JSON.
func (r *reader) field(f *ast.Field) (field Field, inJSON bool, _ error) {
	tag, err := jsonTag(f)
	if err != nil {
		return field, false, err
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "-" || tag == "" && len(f.Names) > 0 {
		return field, false, nil
	}
	at := r.files.Position(f.Pos())
	field = Field{Name: name, Type: r.ref(f.Type), Markers: markers(f.Doc), File: at.Filename, Line: at.Line}
	field.Comment = comment(f.Doc)
	field.Optional = strings.Contains(options, "omit")
	for _, m := range field.Markers {
		field.Optional = field.Optional || m == "optional" || m == "k8s:optional"
	}
	return field, true, nil
}

func jsonTag(f *ast.Field) (string, error) {
	if f.Tag == nil {
		return "", nil
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	return reflect.StructTag(tag).Get("json"), err
}

// ref is a type as it is written.
func (r *reader) ref(e ast.Expr) (ref Ref) {
	switch t := e.(type) {
	case *ast.StarExpr:
		return r.ref(t.X)
	case *ast.ArrayType:
		ref = r.ref(t.Elt)
		if ref.Name == "byte" {
			return Ref{Name: "[]byte"}
		}
		ref.List = true
	case *ast.MapType:
		ref = r.ref(t.Value)
		ref.Map = true
	case *ast.Ident:
		ref.Name = t.Name
		if ast.IsExported(t.Name) {
			ref.Name = r.pkg + "." + t.Name
		}
	case *ast.SelectorExpr:
		if of, is := t.X.(*ast.Ident); is {
			ref.Name = r.imports[of.Name] + "." + t.Sel.Name
		}
	}
	return ref
}

// detached are the markers of a comment that a blank line parts from that of a type: client-gen reads
// these too.
func (r *reader) detached(of *ast.TypeSpec, doc *ast.CommentGroup) []string {
	begins := of.Pos()
	if doc != nil {
		begins = doc.Pos()
	}
	line := r.files.Position(begins).Line
	for _, c := range r.comments {
		if r.files.Position(c.End()).Line == line-2 {
			return markers(c)
		}
	}
	return nil
}

// markers are those of a comment, without the + before them.
func markers(doc *ast.CommentGroup) (all []string) {
	if doc == nil {
		return nil
	}
	for _, c := range doc.List {
		if text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//")); strings.HasPrefix(text, "+") {
			all = append(all, strings.TrimSpace(text[1:]))
		}
	}
	return all
}

// comment is what a comment says, without markers.
func comment(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	var words []string
	for _, c := range doc.List {
		if text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//")); !strings.HasPrefix(text, "+") {
			words = append(words, strings.Fields(text)...)
		}
	}
	return strings.Join(words, " ")
}
