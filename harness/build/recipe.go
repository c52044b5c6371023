package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/files"
)

// maxSource is the limit of a file that replaces one of a release. The largest of Kubernetes has 4 MB.
const maxSource = 64 << 20

// recipe is everything that determines a binary.
type recipe struct {
	target  Target
	source  source
	lock    lock
	choice  choice            // of the toolchain
	overlay map[string][]byte // replaced files of the module, by path
	clock   map[string][]byte // replaced files of the Go toolchain, by path
	module  map[string][]byte // files of our module, by path, for a target that is compiled from them
	tree    []string          // what the work tree is made of, each with its digest

	// toolchain is what compiles it.
	toolchain string
	// lines name each ingredient with its digest; their digest is the key.
	lines []string
}

// newRecipe gathers the ingredients of a target. It compiles nothing, and
// reaches the network only for a release that has no committed lock and was
// never built before.
func newRecipe(ctx context.Context, s store, t Target) (*recipe, error) {
	src, known := t.from()
	if !known {
		return nil, NoComponent(string(t.Component))
	}
	l, err := lockFor(ctx, s, t)
	if err != nil {
		return nil, err
	}
	r := &recipe{target: t, source: src, lock: l, overlay: make(map[string][]byte)}
	if err := r.chooseToolchain(ctx, s); err != nil {
		return nil, err
	}
	if t.checkout != nil {
		r.tree = append(r.tree, "checkout "+t.checkout.Tree)
	}
	directories, err := standInLines(t.instead)
	if err != nil {
		return nil, err
	}
	r.tree = append(append(r.tree, "lock "+digest(l.mod, l.sum)), directories...)
	if t.Unmodified {
		r.tree = append(r.tree, "main "+src.Package)
	} else {
		r.tree = append(r.tree, "glue "+digest(src.glueFiles()), "oom watcher: the release's own for other systems, without its constraints")
	}
	if t.Component == APIServer {
		r.tree = append(r.tree, "host name "+digest(hostnameFile))
	}
	if t.isReference() {
		if err := r.addReference(); err != nil {
			return nil, err
		}
	}
	if t.Component == Container {
		if err := r.addContainer(); err != nil {
			return nil, err
		}
	}
	for path, file := range t.Overlay {
		if r.overlay[path], err = files.Read(file, maxSource); err != nil {
			return nil, fmt.Errorf("reading the replacement of %s: %w", path, err)
		}
	}
	r.tree = append(r.tree, digests("overlay", r.overlay)...)
	r.lines = append([]string{
		"component " + string(t.Component) + " " + string(t.Version),
		"toolchain " + r.toolchain,
		"flags " + strings.Join(r.flags(), " "),
	}, r.ingredients()...)
	r.lines = append(r.lines, clockLines(r.clock)...)
	return r, nil
}

// chooseToolchain sets the toolchain of a recipe, which has its lock, and the files of the toolchain that the component's own
// clock replaces.
func (r *recipe) chooseToolchain(ctx context.Context, s store) (err error) {
	if r.choice, err = s.choose(ctx, r.target, r.lock); err != nil {
		return err
	}
	if r.toolchain, err = s.toolchain(ctx, r.choice); err != nil {
		return err
	}
	if r.target.Clock {
		r.clock, err = s.clockFiles(ctx, r.target, r.choice)
	}
	return err
}

// clockLines name the replaced files of the toolchain; where it is installed
// does not matter.
func clockLines(files map[string][]byte) []string {
	named := make(map[string][]byte)
	for path, text := range files {
		named[filepath.Base(path)] = text
	}
	return digests("clock", named)
}

// digests name files in the order of their paths, each with its digest.
func digests(what string, files map[string][]byte) (lines []string) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		lines = append(lines, what+" "+path+" "+digest(files[path]))
	}
	return lines
}

// ingredients are the parts of the work tree that reach this binary: a change
// of our kubelet main does not make an API server another one.
func (r *recipe) ingredients() []string {
	if r.source.IsOurs() {
		return r.tree
	}
	return slices.DeleteFunc(slices.Clone(r.tree), func(line string) bool {
		return strings.HasPrefix(line, "glue ") || strings.HasPrefix(line, "oom watcher")
	})
}

// key identifies the binary that the recipe makes.
func (r *recipe) key() string {
	return recipeKey(r.lines)
}

func recipeKey(lines []string) string { return digest([]byte(strings.Join(lines, "\n")))[:24] }

// flags are the build flags that shape the binary. Symbols are stripped: they
// double the size, and a stack trace does not need them; not to make them in
// the first place takes a tenth off a build.
func (r *recipe) flags() []string {
	ldflags := append([]string{"-s", "-w"}, r.stamps()...)
	return []string{"-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=" + strings.Join(ldflags, " ")}
}

// stamps put a Kubernetes release where component-base keeps it, for the node's
// status, the user agent of a probe and --version to tell the truth.
func (r *recipe) stamps() []string {
	v := r.target.Version.Released()
	if !r.target.Component.isKubernetes() {
		return nil
	}
	stamp := func(name, value string) string { return "-X k8s.io/component-base/version." + name + "=" + value }
	return []string{
		stamp("gitVersion", string(v)),
		stamp("gitMajor", "1"),
		stamp("gitMinor", fmt.Sprint(v.Minor())),
		stamp("gitTreeState", r.treeState()),
	}
}

// treeState is clean, or dirty if a checkout has changes that are not committed.
func (r *recipe) treeState() string {
	if c := r.target.checkout; c != nil && c.Dirty {
		return "dirty"
	}
	return "clean"
}

// make builds the binary to out and asks it who it is: a stamp that did not
// take would make every report wrong.
func (r *recipe) make(ctx context.Context, s store, out string, tell func(Progress)) error {
	if err := r.compile(ctx, s, out, tell); err != nil {
		return err
	}
	if r.target.Component == Container {
		return nil // it is what this skewrig has, whatever release that is
	}
	v, err := askVersion(ctx, r.target.Component, out)
	if err == nil && v != r.target.Version.Released() {
		err = fmt.Errorf("the binary that was built reports version %s", v)
	}
	if err == nil && r.target.Clock {
		err = s.showsPage(ctx, out)
	}
	return err
}

func (r *recipe) compile(ctx context.Context, s store, out string, tell func(Progress)) error {
	if c := r.target.checkout; c != nil {
		unlock, err := lockCheckout(ctx, c.State, func() { tell(Progress{State: Waiting}) })
		if err != nil {
			return err
		}
		defer unlock()
		if err := r.writeSource(ctx, copyDir(c.State)); err != nil {
			return err
		}
	}
	dir, err := s.workTree(ctx, r)
	if err != nil {
		return err
	}
	// The Go command's own temporary files go where a killed build leaves
	// them to be pruned.
	temp, err := s.scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	flags := append([]string{"-modfile=" + modfileName}, r.flags()...)
	if r.target.checkout != nil {
		flags = append(flags, "-mod=mod") // its go.mod may be on the way to another
	}
	if r.target.Clock {
		list, err := writeOverlay(temp, r.clock)
		if err != nil {
			return err
		}
		flags = append(flags, "-overlay="+list)
	}
	return gotool.Build(ctx, dir, flags, r.source.Package, out, append(r.choice.env, "GOTMPDIR="+temp), func(c gotool.Compilation) { tell(progressOf(c)) })
}

// progressOf is how far a target is of which the Go command says how far it is.
func progressOf(c gotool.Compilation) Progress {
	state := Compiling
	if c.Downloads {
		state = Downloading
	}
	return Progress{State: state, Compiled: c.Took, Done: c.Done, Of: c.Of}
}

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
