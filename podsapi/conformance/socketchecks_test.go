package conformance

import (
	"slices"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
)

// TestTheOwnersSocketIsThatOfTheCatalog: what is said of a kubelet in a rig and of one
// on a real machine is the same, whatever the modes.
func TestTheOwnersSocketIsThatOfTheCatalog(t *testing.T) {
	t.Parallel()
	must := ofTheCatalog(t, "socket-is-the-owners")
	sockets := []string{"srw-------", "srw-rw----", "srw--w----", "srw-r-----", "srw----rw-", "srw-----w-", "srw----r--", "srw-rw-rw-"}
	dirs := []string{"drwx------", "drwx--x---", "drwxr-x---", "drwxr-----", "drwx-----x", "drwx---r-x", "drwx---r--", "drwxr-xr-x"}
	passed := 0
	for _, socket := range sockets {
		for _, dir := range dirs {
			r := good()
			r.Socket.Mode, r.Socket.DirMode = socket, dir
			want, _, err := must.Eval(map[string]any{"it": socket + " in " + dir})
			if err != nil {
				t.Fatal(err)
			}
			got := !slices.Contains(with(Judge(r), reports.Fail), "socket-is-the-owners")
			if got != want.Value() {
				t.Errorf("%s in %s: passed here %t, in the catalog %v", socket, dir, got, want.Value())
			}
			if got {
				passed++
			}
		}
	}
	if passed == 0 || passed == len(sockets)*len(dirs) {
		t.Errorf("%d of %d pass", passed, len(sockets)*len(dirs))
	}
}

// ofTheCatalog is what a check of the catalog says must be so.
func ofTheCatalog(t *testing.T, id string) cel.Program {
	t.Helper()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range cells {
		for _, step := range cell.Steps {
			checks, _ := step.Action.(action.Checks)
			for _, c := range checks.Checks {
				if c.ID == id {
					return compiled(t, c.Must)
				}
			}
		}
	}
	t.Fatalf("the catalog has no check %s", id)
	return nil
}

func compiled(t *testing.T, expression string) cel.Program {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("it", cel.StringType))
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	return program
}
