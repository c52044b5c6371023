package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/golden"
)

// composite is a composite action, as far as ours needs it.
type composite struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Description, Value string }
	Runs              struct {
		Using string
		Steps []compositeStep
	}
}

type compositeStep struct {
	ID, Name, If, Uses, Run, Shell string
	Dir                            string `json:"working-directory"`
	Env                            map[string]string
	With                           map[string]any
}

func readAction(t *testing.T) (a composite) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(readText(t, filepath.Join(root, "action.yml"))), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// runner runs the steps of the action as a runner of GitHub does. What a step uses is
// another's action: it is only noted.
type runner struct {
	t      *testing.T
	values map[string]string // of expressions: inputs.version, steps.run.outputs.exit-code
	env    []string
	dir    string
	failed bool
	// used are the actions that were used, with what they were given.
	used []string
}

// newRunner has a workspace, and PATH with a directory of programs before others.
func newRunner(t *testing.T, programs string, inputs map[string]string) *runner {
	t.Helper()
	temp, action := t.TempDir(), absolute(t, root)
	r := &runner{t: t, dir: t.TempDir(), values: map[string]string{"github.action_path": action, "github.run_id": "7", "runner.temp": temp}}
	for name, input := range readAction(t).Inputs {
		r.values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, has := r.values["inputs."+name]; !has {
			t.Fatalf("the action has no input %s", name)
		}
		r.values["inputs."+name] = value
	}
	r.env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "GITHUB_ACTIONS=true")
	return r
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// run runs all steps, and returns the outputs of the action.
func (r *runner) run(a composite) map[string]string {
	r.t.Helper()
	for _, s := range a.Runs.Steps {
		switch {
		case !r.wanted(s.If):
		case s.Uses != "":
			r.used = append(r.used, r.use(s))
		default:
			r.script(s)
		}
	}
	outputs := make(map[string]string)
	for name, output := range a.Outputs {
		outputs[name] = r.expand(output.Value)
	}
	return outputs
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand replaces the expressions in a text. They are names, of which the first that is
// not empty counts.
func (r *runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		for name := range strings.SplitSeq(expression.FindStringSubmatch(found)[1], " || ") {
			if value := r.value(name); value != "" {
				return value
			}
		}
		return ""
	})
}

// value is that of a name. A step that was left out has no outputs.
func (r *runner) value(name string) string {
	value, has := r.values[name]
	if !has && !regexp.MustCompile(`^steps\.[a-z]+\.outputs\.[a-z-]+$`).MatchString(name) {
		r.t.Fatalf("nothing is called %q", name)
	}
	return value
}

var comparison = regexp.MustCompile(`^([a-z.-]+) (==|!=) '([^']*)'$`)

// wanted reports whether a step is taken. One without a condition is, if none failed
// before it.
func (r *runner) wanted(condition string) bool {
	if condition == "" {
		return !r.failed
	}
	anyway := false
	for part := range strings.SplitSeq(expression.FindStringSubmatch(condition)[1], " && ") {
		if part == "!cancelled()" {
			anyway = true
			continue
		}
		is := comparison.FindStringSubmatch(part)
		if is == nil {
			r.t.Fatalf("%q is not understood", part)
		}
		if (r.value(is[1]) == is[3]) != (is[2] == "==") {
			return false
		}
	}
	return anyway || !r.failed
}

func (r *runner) use(s compositeStep) string {
	r.t.Helper()
	text, _, _ := strings.Cut(s.Uses, "@")
	for _, name := range sortedKeys(s.With) {
		text += fmt.Sprintf(" %s=%q", name, strings.TrimSpace(r.expand(fmt.Sprint(s.With[name]))))
	}
	return text
}

func sortedKeys(m map[string]any) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// script runs the script of a step, and reads what it leaves for those after it.
func (r *runner) script(s compositeStep) {
	r.t.Helper()
	if s.Shell != "bash" || strings.Contains(s.Run, "${{") {
		r.t.Fatalf("%s: a script of bash gets inputs by its environment, so that none is run as code", s.Name)
	}
	files := r.t.TempDir()
	script, output, path := filepath.Join(files, "script"), filepath.Join(files, "output"), filepath.Join(files, "path")
	for name, text := range map[string]string{script: s.Run, output: "", path: ""} {
		golden.Write(r.t, name, text)
	}
	cmd := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	cmd.Dir = filepath.Join(r.dir, r.expand(s.Dir))
	cmd.Env = append(slices.Clone(r.env), "GITHUB_OUTPUT="+output, "GITHUB_PATH="+path, "GITHUB_STEP_SUMMARY="+filepath.Join(r.dir, "summary"))
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.expand(value))
	}
	said, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		r.t.Fatal(err)
	}
	if err != nil {
		r.failed = true
		r.t.Logf("%s: %v\n%s", s.Name, err, said)
	}
	for line := range strings.Lines(readText(r.t, output)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		r.values["steps."+s.ID+".outputs."+name] = value
	}
	for line := range strings.Lines(readText(r.t, path)) {
		r.env = append(r.env, "PATH="+strings.TrimSpace(line)+":"+lastPath(r.env))
	}
}

func lastPath(env []string) (path string) {
	for _, variable := range env {
		if value, is := strings.CutPrefix(variable, "PATH="); is {
			path = value
		}
	}
	return path
}

// fakes makes programs go and skewrig, which write down how they are called. The cache
// of this skewrig gets an entry if builds is set, and its run ends with a code. It refuses to
// build for the pattern "refused".
func fakes(t *testing.T, builds bool, code int) (programs, log string) {
	t.Helper()
	programs, log = t.TempDir(), t.TempDir()
	const note = `#!/bin/bash
printf '%%s\0' "$PWD" %[1]s "$@" > %[2]q/$(printf %%03d $(ls %[2]q | wc -l))
`
	skewrig := fmt.Sprintf(note, "skewrig", log)
	if builds {
		skewrig += fmt.Sprintf("case $1:$3 in build:--list) cat %[1]q/../built 2>/dev/null;; build:*) echo more >> %[1]q/../built;; esac\n", log)
	}
	skewrig += "case $* in 'build components --for refused') exit 3;; esac\n"
	skewrig += fmt.Sprintf("if [ $1 = run ]; then exit %d; fi\ntrue\n", code)
	write := func(name, text string) string {
		path := filepath.Join(programs, name)
		golden.Write(t, path, text)
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	installed := write("to-install", skewrig)
	write("go", fmt.Sprintf(note, "go", log)+fmt.Sprintf(`case $1 in env) echo /go-$2;; install) mkdir -p "$GOBIN" && cp %q "$GOBIN/skewrig";; esac`+"\n", installed))
	return programs, log
}

// calls are the calls of the programs, but for what they were only asked.
func calls(t *testing.T, log string) (all [][]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(log, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		words := strings.Split(strings.TrimSuffix(readText(t, file), "\x00"), "\x00")
		if asked := strings.Join(words[1:3], " "); asked != "go env" && !slices.Contains(words, "--list") {
			all = append(all, words)
		}
	}
	return all
}

// TestTheAction runs the action with what inputs can say, hostile texts among them, on
// programs that only write down how they are called.
func TestTheAction(t *testing.T) {
	t.Parallel()
	action := absolute(t, root)
	for name, c := range map[string]struct {
		inputs map[string]string
		builds bool
		code   int
		calls  [][]string // W stands for the workspace
		used   []string
	}{
		"defaults": {
			builds: true,
			calls: [][]string{
				{action, "go", "install", "./cmd/skewrig"},
				{"W", "skewrig", "build", "components"},
				{"W", "skewrig", "run", "--report-dir", "report", "--"},
			},
			used: []string{"actions/setup-go", "actions/cache/restore", "actions/cache/save"},
		},
		"nothing new": {
			calls: [][]string{
				{action, "go", "install", "./cmd/skewrig"},
				{"W", "skewrig", "build", "components"},
				{"W", "skewrig", "run", "--report-dir", "report", "--"},
			},
			used: []string{"actions/setup-go", "actions/cache/restore"},
		},
		"a pattern that is wrong": {
			inputs: map[string]string{"patterns": "refused"},
			code:   3,
			calls: [][]string{
				{action, "go", "install", "./cmd/skewrig"},
				{"W", "skewrig", "build", "components", "--for", "refused"},
			},
			used: []string{"actions/setup-go", "actions/cache/restore"},
		},
		"a rehearsal": {
			inputs: map[string]string{"rehearse": "deploy/\ncharts/my shop.yaml"},
			calls: [][]string{
				{action, "go", "install", "./cmd/skewrig"},
				{
					"W", "skewrig", "build", "components", "kube-apiserver@previous", "kube-controller-manager@previous", "kube-scheduler@previous", "kubelet@previous",
					"kube-apiserver@newest", "kube-controller-manager@newest", "kube-scheduler@newest", "kubelet@newest",
				},
				{"W", "skewrig", "rehearse", "--report-dir", "report", "--", "deploy/", "charts/my shop.yaml"},
			},
			used: []string{"actions/setup-go", "actions/cache/restore"},
		},
		"everything, and red": {
			inputs: map[string]string{
				"patterns": "kep-4939/**\n\na b\n$(touch pwned)\n\"; exit 0 #\n-x\n${{ inputs.version }}", "version": "v1.2.3",
				"working-directory": "sub dir", "report-dir": "out/$HOME", "upload": "true", "artifact": "mine",
			},
			builds: true, code: 1,
			calls: [][]string{
				{"W", "go", "install", "github.com/skewrig/skewrig/cmd/skewrig@v1.2.3"},
				{"W/sub dir", "skewrig", "build", "components", "--for", "kep-4939/**", "--for", "a b", "--for", "$(touch pwned)", "--for", `"; exit 0 #`, "--for", "-x", "--for", "${{ inputs.version }}"},
				{"W/sub dir", "skewrig", "run", "--report-dir", "out/$HOME", "--", "kep-4939/**", "a b", "$(touch pwned)", `"; exit 0 #`, "-x", "${{ inputs.version }}"},
			},
			used: []string{"actions/setup-go", "actions/cache/restore", "actions/cache/save", `actions/upload-artifact name="mine" path="W/sub dir/out/$HOME"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs, log := fakes(t, c.builds, c.code)
			r := newRunner(t, programs, c.inputs)
			if err := os.MkdirAll(filepath.Join(r.dir, "sub dir"), 0o755); err != nil {
				t.Fatal(err)
			}
			outputs := r.run(readAction(t))
			inWorkspace := func(text string) string { return strings.ReplaceAll(text, r.dir, "W") }
			got := calls(t, log)
			for _, words := range got {
				words[0] = inWorkspace(words[0])
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.calls) {
				t.Errorf("it calls\n%q, want\n%q", got, c.calls)
			}
			ran := slices.ContainsFunc(got, func(words []string) bool { return words[2] == "run" || words[2] == "rehearse" })
			for i, used := range r.used {
				if i >= len(c.used) || !strings.HasPrefix(inWorkspace(used), c.used[i]) {
					t.Errorf("it uses %s", used)
				}
			}
			if len(r.used) != len(c.used) || r.failed != (c.code != 0) || outputs["exit-code"] != fmt.Sprint(c.code) || (outputs["report-dir"] != "") != ran || !strings.HasPrefix(outputs["report-dir"]+r.dir, r.dir) {
				t.Errorf("it used %q, failed is %t, the outputs are %q", r.used, r.failed, outputs)
			}
		})
	}
}

// TestTheActionKeepsWhatItRestores: both have the same directories, and the key of a
// later run begins with what this one restores by.
func TestTheActionKeepsWhatItRestores(t *testing.T) {
	t.Parallel()
	programs, _ := fakes(t, true, 0)
	r := newRunner(t, programs, nil)
	r.run(readAction(t))
	given := func(used, name string) string {
		_, after, _ := strings.Cut(used, name+"=")
		value, _, _ := strings.Cut(strings.TrimPrefix(after, `"`), `"`)
		return value
	}
	restored, kept := r.used[1], r.used[2]
	if paths := given(restored, " path"); paths != given(kept, " path") || !strings.HasSuffix(paths, `/skewrig\n/go-GOCACHE\n/go-GOMODCACHE`) {
		t.Errorf("it restores and keeps other directories: %s and %s", restored, kept)
	}
	if by := given(restored, "restore-keys"); !strings.HasPrefix(by, "skewrig-/go-GOOS-") || given(kept, " key") != by+"7" {
		t.Errorf("what it keeps is not found again: %s and %s", restored, kept)
	}
}

// TestTheActionOnRealComponents installs skewrig from this checkout, and runs a cell.
func TestTheActionOnRealComponents(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles skewrig, and runs real components")
	}
	r := newRunner(t, t.TempDir(), map[string]string{"patterns": "kep-4939/skew/older-kubelet/**"})
	outputs := r.run(readAction(t))
	summary, err := os.ReadFile(filepath.Join(r.dir, "summary"))
	if r.failed || outputs["exit-code"] != "0" || err != nil || !bytes.Contains(summary, []byte("kep-4939/skew/older-kubelet")) {
		t.Errorf("failed is %t, outputs are %q, summary %v:\n%s", r.failed, outputs, err, summary)
	}
	if _, err := os.Stat(filepath.Join(outputs["report-dir"], "index.html")); err != nil {
		t.Error(err)
	}
}

// TestTheRecipeGivesTheActionItsInputs: what the recipe for GitHub says is an input of
// the action.
func TestTheRecipeGivesTheActionItsInputs(t *testing.T) {
	t.Parallel()
	var recipe struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readText(t, filepath.Join(root, "docs/ci/github-actions.yaml"))), &recipe); err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, step := range recipe.Jobs["skewrig"].Steps {
		if !strings.HasPrefix(step.Uses, "skewrig/skewrig@") {
			continue
		}
		ours++
		for _, name := range sortedKeys(step.With) {
			if _, has := readAction(t).Inputs[name]; !has {
				t.Errorf("the action has no input %s", name)
			}
		}
	}
	if ours != 1 {
		t.Errorf("the recipe uses the action %d times", ours)
	}
}
