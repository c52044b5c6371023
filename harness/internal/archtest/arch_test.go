// Package archtest holds the project to its import rules, which stand in one
// table.
package archtest

import (
	_ "embed"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/apitypes"
)

const module = "github.com/skewrig/skewrig/"

//go:embed imports.txt
var table string

// rule says that packages below into may import packages below from.
type rule struct{ from, into string }

func parse(text string) (rules []rule) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		from, into, ok := strings.Cut(line, "<")
		if !ok {
			continue
		}
		for folder := range strings.FieldsSeq(into) {
			rules = append(rules, rule{from: strings.TrimSpace(from), into: folder})
		}
	}
	return rules
}

func below(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// grants reports whether a rule lets a package import another one of the module.
func (r rule) grants(pkg, imported string) bool {
	return below(pkg, r.into) && below(imported, r.from)
}

// allowed reports whether a package may import another one of the module.
func allowed(rules []rule, pkg, imported string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.grants(pkg, imported) })
}

type goPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports, Deps   []string
}

func TestImportsFollowTheTable(t *testing.T) {
	rules := parse(table)
	used := make(map[rule]bool)
	for _, p := range list(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			if imported == "k8s.io/kubernetes" || strings.HasPrefix(imported, "k8s.io/kubernetes/") {
				t.Errorf("%s imports %s: only harness/engine is compiled against it", pkg, imported)
			}
			own, isOwn := strings.CutPrefix(imported, module)
			if isOwn && !allowed(rules, pkg, own) {
				t.Errorf("%s imports %s, which imports.txt does not allow", pkg, own)
			}
			for _, r := range rules {
				used[r] = used[r] || isOwn && r.grants(pkg, own)
			}
		}
	}
	for _, r := range rules {
		if !used[r] {
			t.Errorf("no import needs %q of imports.txt: remove it", r.from+" < "+r.into)
		}
	}
}

func TestTheTableForbids(t *testing.T) {
	rules := parse(table)
	for _, wrong := range []rule{
		{from: "scenarios/plan", into: "harness/cluster"},
		{from: "fakeservers/server", into: "record"},
		{from: "scenarios/engine", into: "scenarios/check"},
		{from: "scenarios/plan", into: "scenarios/model/world"},
		{from: "harness/lease", into: "scenarios/model/world"},
		{from: "reports", into: "record"},
		{from: "cmd/skewrig", into: "suites"},
	} {
		if allowed(rules, wrong.into, wrong.from) {
			t.Errorf("the table lets %s import %s", wrong.into, wrong.from)
		}
	}
}

// eachFile calls a function with each Go file of the product. Packages that are for tests are left out.
func eachFile(t *testing.T, do func(pkg, name string, text []byte)) {
	t.Helper()
	for _, p := range list(t) {
		if slices.Contains(p.Imports, "testing") {
			continue
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			do(strings.TrimPrefix(p.ImportPath, module), name, text)
		}
	}
}

// TestOnlyProcessStartsPrograms: it starts them in a group of their own, from a thread that stays, so that they end with
// skewrig, and gives them no environment but the one that they need.
func TestOnlyProcessStartsPrograms(t *testing.T) {
	const only = "harness/process"
	starts := false
	eachFile(t, func(pkg, name string, text []byte) {
		for _, use := range programStarts(t, text) {
			starts = starts || pkg == only
			if pkg != only {
				t.Errorf("%s/%s uses %s: use process.Command or process.Start", pkg, name, use)
			}
		}
	})
	if !starts {
		t.Errorf("%s starts no program: the test looks for the wrong thing", only)
	}
}

// startsProgram are what starts programs, by their packages.
var startsProgram = map[string][]string{
	"os/exec":                   {"Cmd", "Command", "CommandContext"},
	"os":                        {"StartProcess"},
	"syscall":                   {"Exec", "ForkExec", "StartProcess", "SysProcAttr"},
	"golang.org/x/sys/unix":     {"Exec"},
	"sigs.k8s.io/kind/pkg/exec": {"Command", "CommandContext"},
	"k8s.io/utils/exec":         {"New"},
}

// programStarts are the uses of them in a Go file.
func programStarts(t *testing.T, text []byte) (uses []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imported := apitypes.Imports(file)
	ast.Inspect(file, func(n ast.Node) bool {
		if use, is := n.(*ast.SelectorExpr); is {
			if of, is := use.X.(*ast.Ident); is && slices.Contains(startsProgram[imported[of.Name]], use.Sel.Name) {
				uses = append(uses, of.Name+"."+use.Sel.Name)
			}
		}
		return true
	})
	return uses
}

// TestProgramStarts: other names of packages are seen through, and what starts nothing is no use.
func TestProgramStarts(t *testing.T) {
	got := programStarts(t, []byte(`package a
import ("context"; run "os/exec"; "os"; "syscall")
func a(ctx context.Context) {
	_, _ = run.LookPath("sh")
	_ = run.CommandContext(ctx, "sh").Run()
	_, _ = os.StartProcess("sh", nil, &os.ProcAttr{Sys: &syscall.SysProcAttr{}})
	var exec struct{ Command int }
	_ = exec.Command
}`))
	if want := []string{"run.CommandContext", "os.StartProcess", "syscall.SysProcAttr"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// list asks the Go command for the packages of the module.
func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Deps", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
		dependsOn(t, p.Dir, filepath.Dir(p.Dir))
	}
	if len(all) < 10 {
		t.Fatalf("found only %d packages", len(all))
	}
	return all
}

// dependsOn makes a cached result of the test invalid once a folder changes. The Go command knows which
// files a test reads, and not those that a command reads for it.
func dependsOn(t *testing.T, folders ...string) {
	t.Helper()
	for _, f := range folders {
		if _, err := os.ReadDir(f); err != nil {
			t.Fatal(err)
		}
	}
}
