package action

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Kubectl runs the kubectl of a release, as an administrator.
type Kubectl struct {
	// Version is a release, "newest", "previous" or a minor version ("v1.36").
	Version release.Version `json:"version"`
	// Args are what follows kubectl on the command line: [label, pod/tls, a=b]. It reads no
	// files of this machine, and has no plugins and no editor.
	Args []string `json:"args"`
	// Input are the objects that it reads with -f -: one, or a list. If unset, it reads nothing.
	Input    Inline `json:"input,omitempty"`
	Expected `json:"-"`
}

// noStep are commands of kubectl that a step can't run, and why.
var noStep = map[string]string{
	"attach": "it lasts until it is ended", "port-forward": "it lasts until it is ended", "proxy": "it lasts until it is ended",
	"completion": "it is about this machine", "config": "it is about this machine", "cp": "it is about this machine",
	"kustomize": "it is about this machine", "plugin": "it is about this machine",
	"edit": "it needs an editor", "kuberc": "it is about this machine",
}

// leadsElsewhere are the flags of kubectl that say whom to ask, and as whom.
var leadsElsewhere = []string{
	"-s", "--server", "--kubeconfig", "--context", "--cluster", "--user", "--username", "--password", "--token", "--client-certificate", "--client-key",
	"--certificate-authority", "--insecure-skip-tls-verify", "--tls-server-name", "--cache-dir", "--profile-output", "--kuberc",
}

// readsFiles are the flags of kubectl that name files.
var readsFiles = []string{
	"-f", "--filename", "-k", "--kustomize", "--patch-file", "--from-file", "--from-env-file", "--cert", "--key", "--custom", "--output-directory",
}

const (
	// withValue are the flags of one letter that have a value: the rest of the argument, or the next one.
	withValue = "cekLlnosv"
	// sometimesWithValue are those that have one in some commands.
	sometimesWithValue = "fp"
)

func (k Kubectl) Check(f spec.Field) {
	f.Refuse(".args", len(k.Args) == 0, "there are no arguments: the first one is a command, such as label")
	if len(k.Args) > 0 {
		f.Refuse(".args[0]", strings.HasPrefix(k.Args[0], "-"), "the first argument is a command, such as label")
		f.Refuse(".args[0]", noStep[k.Args[0]] != "", "a step can't run kubectl %s: %s", k.Args[0], noStep[k.Args[0]])
	}
	for i, arg := range k.Args {
		if arg == "--" { // what follows is a container's, unless it is the value of a flag
			before := k.Args[max(i-1, 0)]
			f.Refuse(".args"+index(i), mayHaveValue(before), "kubectl may take -- for the value of %s: write the value after =, or an argument between them", strict.Quote(before))
			break
		}
		k.checkFlag(f, ".args"+index(i), arg, i)
	}
	for i := range k.Input {
		if f.Clean(".input") {
			f.Object(".input" + index(i))
		}
	}
	f.Refuse(".args", len(k.Input) > 0 && !slices.Contains(k.Args, "-"), "nothing reads the input: give kubectl -f and - for it")
	r := f.Step.Rejected
	f.Refuse("", r != nil && r.Code != 0, "kubectl answers with no HTTP status: rejected has a message only")
}

// checkFlag reports a flag that has kubectl ask others than the rig, or read files.
func (k Kubectl) checkFlag(f spec.Field, at, arg string, i int) {
	for _, r := range readings(arg) {
		if !r.with && i+1 < len(k.Args) {
			r.value = k.Args[i+1]
		}
		if problem := r.problem(); problem != "" {
			f.Report(at, "%s", problem)
			return
		}
	}
}

// reading is a flag that an argument may be, and its value if the argument has one.
type reading struct {
	flag, value string
	with        bool
}

// problem says why a step can't give the flag, or nothing if it can.
func (r reading) problem() string {
	format, _, _ := strings.Cut(r.value, "=")
	switch {
	case r.flag == "--edit":
		return "kubectl has no editor: " + r.flag + " can't be given"
	case (r.flag == "-o" || r.flag == "--output") && strings.HasSuffix(format, "file"):
		return "kubectl reads no files of this machine: give it the template itself"
	case slices.Contains(leadsElsewhere, r.flag):
		return "the rig says whom kubectl asks, and as whom: " + r.flag + " can't be given"
	case slices.Contains(readsFiles, r.flag) && (r.value != "-" || r.flag != "-f" && r.flag != "--filename"):
		return "kubectl reads no files of this machine: give it objects as input, with -f and -"
	default:
		return ""
	}
}

// withoutValue are flags of commands that run something in a container, which have no value.
var withoutValue = []string{"-i", "-t", "-q", "--stdin", "--tty", "--quiet", "--rm", "--attach"}

// mayHaveValue reports whether the next argument may be the value of a flag.
func mayHaveValue(arg string) bool {
	return strings.HasPrefix(arg, "-") && slices.ContainsFunc(readings(arg), func(r reading) bool {
		return !r.with && !slices.Contains(withoutValue, r.flag)
	})
}

// readings returns the flags that an argument may be. Of several flags of one letter in one argument, it is the last, or
// one that has the rest for its value. Commands read the same letter in different ways: -p has a value in patch, and none in
// logs. kubectl takes _ in the name of a flag for - (component-base/cli/flag).
func readings(arg string) (all []reading) {
	if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "--") {
		flag, value, with := strings.Cut(arg, "=")
		return []reading{{strings.ReplaceAll(flag, "_", "-"), value, with}}
	}
	for i := 1; i < len(arg); i++ {
		last := i+1 == len(arg) || !isLetter(arg[i+1])
		if strings.IndexByte(withValue+sometimesWithValue, arg[i]) < 0 && !last {
			continue
		}
		value := strings.TrimPrefix(arg[i+1:], "=")
		all = append(all, reading{"-" + arg[i:i+1], value, value != ""})
		if last || strings.IndexByte(withValue, arg[i]) >= 0 {
			return all
		}
	}
	return append(all, reading{flag: arg})
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (k Kubectl) Asks() map[string]release.Version {
	return map[string]release.Version{".version": k.Version}
}

func (k Kubectl) Change(r *spec.Rig) { r.Resolve(".version", k.Version) }

func (k Kubectl) Manifests() spec.Objects { return append(spec.Objects{}, k.Input...) }

func (k Kubectl) Plan(s Scene) (Action, error) {
	v, err := s.Rig.Meant(k.Version)
	k.Version, k.Expected = s.Rig.On(spec.Kubectl, v), expected(s)
	return k, err
}

// Facts are those of a kubectl, which may do anything.
func (k Kubectl) Facts() Facts {
	return Facts{
		Needs: NeedsKubectl, Reach: ReachAll, Creates: k.Input, WritesAnything: true, Unanswered: 1,
		Starts: programs(spec.Kubectl, k.Version), Gives: gives("kubectl"), Checks: k.Checked(),
	}
}

func (k Kubectl) Describe() string {
	words := []string{"kubectl"}
	for _, arg := range k.Args {
		if quoted, err := syntax.Quote(arg, syntax.LangBash); err == nil { // it has no null bytes
			arg = quoted
		}
		words = append(words, arg)
	}
	text := fmt.Sprintf("%s (%s)", strings.Join(words, " "), k.Version)
	if len(k.Input) > 0 {
		var names []string
		for _, object := range k.Input {
			names = append(names, describeObject(object))
		}
		text += " of " + strings.Join(names, ", ")
	}
	switch {
	case k.Accepted:
		text += ", which must succeed"
	case k.Rejected != nil:
		text += ", which must fail"
	}
	return OneLine(text)
}

// Checked implements Checker.
func (k Kubectl) Checked() []Check {
	name := strconv.Quote(k.Step)
	observe := fmt.Sprintf(`{"code": kubectl[%s].code, "errors": kubectl[%s].errors}`, name, name)
	return k.checks(observe, "it.code == 0", "it.code != 0", "errors")
}

func (k Kubectl) Run(ctx context.Context, rig Rig) error {
	if err := rig.Kubectl(ctx, k, k.judged()); err != nil {
		return err
	}
	return watch(ctx, rig, k.Checked())
}
