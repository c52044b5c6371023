package build

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// TestTheContainerProgramHasItsSources: a package that it comes to import has to be named
// in source.go, or it can't be built by an installed skewrig.
func TestTheContainerProgramHasItsSources(t *testing.T) {
	t.Parallel()
	const files = `{{with .Module}}{{if .Main}}{{$p := $.ImportPath}}{{range $.GoFiles}}{{$p}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$p}}/{{.}}
{{end}}{{end}}{{end}}`
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", files, "./cmd/container")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := &recipe{target: ContainerTarget()}
	if err := r.addContainer(); err != nil {
		t.Fatal(err)
	}
	var wanted, packages []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimPrefix(strings.TrimSpace(line), program.Skewrig+"/"); name != "" {
			wanted = append(wanted, name)
			packages = append(packages, path.Dir(name))
		}
	}
	for _, name := range wanted {
		if r.module[name] == nil {
			t.Errorf("%s is missing in source.go", name)
		}
	}
	for name := range r.module {
		if !slices.Contains(packages, path.Dir(name)) {
			t.Errorf("%s is in source.go, and not needed", name)
		}
	}
	l, err := containerLock()
	if err != nil || !strings.HasPrefix(string(l.mod), "module "+program.Skewrig+"\n") || len(l.sum) == 0 {
		t.Errorf("its lock is %.60q: %v", l.mod, err)
	}
}

// TestTheContainerProgramIsNoTarget: it has no release.
func TestTheContainerProgramIsNoTarget(t *testing.T) {
	t.Parallel()
	if targets, err := ParseTargets("container@v1.90.1", release.Releases{}); err == nil {
		t.Errorf("it is %v", targets)
	}
	if slices.Contains(Components(), Container) {
		t.Error("it is listed")
	}
}

// TestTheContainerProgramIsBuilt takes a minute where nothing is compiled yet.
func TestTheContainerProgramIsBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles")
	}
	b := &Builder{Dir: t.TempDir()}
	first, err := b.ContainerProgram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := (&Builder{Dir: b.Dir}).ContainerProgram(t.Context())
	if err != nil || !again.Cached {
		t.Errorf("it is built again: %v", err)
	}
	first.Cached = true
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("it is another one (-first +again):\n%s", diff)
	}
}
