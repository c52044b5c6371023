package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

const root = ".."

// TestEveryPayloadIsInTheTable looks through the source for types that can be
// recorded: Payloads has all of them, and docs/architecture.md has each.
func TestEveryPayloadIsInTheTable(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	kinds := make(map[string]bool)
	for _, p := range record.Payloads() {
		listed = append(listed, strings.TrimPrefix(reflect.TypeOf(p).PkgPath(), "github.com/skewrig/skewrig/")+"."+reflect.TypeOf(p).Name())
		if kind := p.EventKind(); kinds[kind] {
			t.Errorf("two payloads are of the kind %s", kind)
		} else if kinds[kind] = true; !strings.Contains(string(doc), "`"+kind+"`") {
			t.Errorf("docs/architecture.md does not have %s", kind)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(declared(t), listed); diff != "" {
		t.Errorf("(-in the source +in the table):\n%s", diff)
	}
}

// declared are the types of the module with a method EventKind, without those of
// tests.
func declared(t *testing.T) (types []string) {
	t.Helper()
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			f, isFunc := declaration.(*ast.FuncDecl)
			if !isFunc || f.Recv == nil || f.Name.Name != "EventKind" {
				continue
			}
			if receiver, isNamed := f.Recv.List[0].Type.(*ast.Ident); isNamed {
				types = append(types, path.Dir(name)+"."+receiver.Name)
			}
		}
		return nil
	})
	if err != nil || len(types) < 10 {
		t.Fatalf("found only %v, %v", types, err)
	}
	slices.Sort(types)
	return types
}
