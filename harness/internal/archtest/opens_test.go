package archtest

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed opens.txt
var opens string

// opening are the functions of package os that open a file whatever it is, follow links, or read
// without a limit.
var opening = map[string]bool{
	"ReadFile": true, "Open": true, "OpenFile": true, "OpenInRoot": true, "Create": true, "WriteFile": true, "DirFS": true, "CopyFS": true,
}

// TestFilesThatUsersNameAreOpenedInOnePlace: a FIFO, a device and a link of a report of others
// have no effect only where harness/files is used.
func TestFilesThatUsersNameAreOpenedInOnePlace(t *testing.T) {
	t.Parallel()
	folders, exceptions := parseOpens(opens)
	used := make(map[string]bool)
	for _, p := range list(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		if !belowAny(pkg, folders) {
			continue
		}
		for _, file := range p.GoFiles {
			name := pkg + "/" + file
			for _, call := range openings(t, filepath.Join(p.Dir, file)) {
				if used[name] = true; !exceptions[name] {
					t.Errorf("%s calls os.%s: use harness/files, or give the reason in opens.txt", name, call)
				}
			}
		}
	}
	for name := range exceptions {
		if !used[name] {
			t.Errorf("opens.txt has %s, which opens no file that way", name)
		}
	}
}

// parseOpens reads the folders of opens.txt, and the exceptions below them.
func parseOpens(text string) (folders []string, exceptions map[string]bool) {
	exceptions = make(map[string]bool)
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, "#")
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case strings.HasSuffix(name, ".go"):
			exceptions[name] = true
		default:
			folders = append(folders, name)
		}
	}
	return folders, exceptions
}

func belowAny(pkg string, folders []string) bool {
	for _, folder := range folders {
		if below(pkg, folder) {
			return true
		}
	}
	return false
}

// openings are the calls of such functions in a file.
func openings(t *testing.T, file string) (calls []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is && opening[s.Sel.Name] {
			if of, is := s.X.(*ast.Ident); is && of.Name == "os" && of.Obj == nil {
				calls = append(calls, s.Sel.Name)
			}
		}
		return true
	})
	return calls
}
