package own

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
)

const head = "apiVersion: skewrig.dev/v1alpha1\nkind: Catalog\n"

// write writes files, by their paths, below a new directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, path, text)
	}
	return dir
}

const scenario = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: shop/web/upgrade
title: web stays up
where: kubelet < 1.37
topology: {nodes: [{name: node-a, version: "${kubelet}"}]}
steps:
- checks: [{id: up, requirement: SHOP/up, observe: 'objects["nodes/node-a"].metadata.name', is: node-a}]
`

const statements = `kep: SHOP
source: Our promises
statements:
- {id: SHOP/up, level: core, stage: stable, section: Uptime, statement: The shop stays up.}
`

const deviations = `apiVersion: skewrig.dev/v1alpha1
kind: KnownDeviations
deviations:
- {cells: shop/**, checks: up, reason: it is slow, link: "https://example.com/1"}
`

// TestACatalog: axes that a scenario refers to and doesn't have are those of the file,
// also where only a condition names them.
func TestACatalog(t *testing.T) {
	t.Parallel()
	const ofItsOwn = "axes: {kubelet: [v1.35.4]}\ntopology:"
	dir := write(t, map[string]string{
		File: head + "scenarios: [s/*.yaml, s/a.yaml]\nledgers: [l/shop.yaml]\nknownDeviations: [known.yaml]\n" +
			"releases: {kubelet: [newest, previous, v1.35], apiserver: [newest]}\nbuiltIn: true\n",
		"s/a.yaml": scenario, "l/shop.yaml": statements, "known.yaml": deviations,
		"s/b.yaml":   strings.NewReplacer("web", "own", "topology:", ofItsOwn).Replace(scenario),
		"s/c.yaml":   strings.NewReplacer("web", "none", "where: kubelet < 1.37\n", "", "${kubelet}", "newest").Replace(scenario),
		"deep/er/x":  "",
		"s/pods/p.y": "",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, cell := range c.Cells {
		got = append(got, cell.File+" "+cell.ID)
	}
	want := []string{
		"s/a.yaml shop/web/upgrade/kubelet:" + string(release.Previous), "s/a.yaml shop/web/upgrade/kubelet:v1.35.4",
		"s/b.yaml shop/own/upgrade/kubelet:v1.35.4", "s/c.yaml shop/none/upgrade",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the cells are %q, want %q", got, want)
	}
	if len(c.Requirements) != 1 || c.Requirements[0].Statement != "The shop stays up." || len(c.Known.Deviations) != 1 || !c.BuiltIn {
		t.Errorf("it has %v and %v", c.Requirements, c.Known)
	}
	for from, want := range map[string]string{dir: dir, filepath.Join(dir, "deep", "er"): dir} {
		if got, found := Find(from); !found || got != want {
			t.Errorf("from %s it is found in %q", from, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	if got, found := Find(filepath.Join(dir, "deep")); found && strings.HasPrefix(got, dir) {
		t.Errorf("without the file it is found in %q", got)
	}
}

// TestMistakesInTheFile: all of them are reported at once, with their places.
func TestMistakesInTheFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{File: {Data: []byte(head + `scenarios:
- ../other/*.yaml
- none/*.yaml
- "[a"
ledgers: []
releases: {kubelet: [newst, reference], apiserver: []}
builtin: true
`)}}
	_, _, err := read(files)
	if err == nil {
		t.Fatal("nothing is wrong with it")
	}
	for _, want := range []string{
		`skewrig.yaml:4:3: "../other/*.yaml" is not a path of files below this one`,
		`skewrig.yaml:5:3: there is no file "none/*.yaml"`,
		`skewrig.yaml:6:3: "[a" is not a pattern of paths`,
		`skewrig.yaml:8:22: "newst" is not a release`,
		`skewrig.yaml:8:52: the axis has no values`,
		`skewrig.yaml:9:1: unknown field "builtin": did you mean builtIn?`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in\n%v", want, err)
		}
	}
	for text, want := range map[string]string{
		"":                       "skewrig.yaml:1:1: the file is empty",
		head + "scenarios: []\n": "skewrig.yaml:3:12: it is empty: there would be nothing to run",
		head:                     "the field scenarios is missing",
		"apiVersion: v1\nkind: Pod\nscenarios: a": "skewrig.yaml:1:13: apiVersion must be skewrig.dev/v1alpha1",
	} {
		if _, _, err := read(fstest.MapFS{File: {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestMistakesInTheFilesItNames are reported at once.
func TestMistakesInTheFilesItNames(t *testing.T) {
	t.Parallel()
	_, err := Load(write(t, map[string]string{
		File:         head + "scenarios: [a.yaml]\nledgers: [l.yaml]\nknownDeviations: [k.yaml]\n",
		"a.yaml":     strings.Replace(scenario, "title:", "tilte:", 1),
		"l.yaml":     strings.Replace(statements, "stable,", "stable, extra: 1,", 1) + "fields: [{path: hostUsers, gate: A}]\n",
		"k.yaml":     strings.Replace(deviations, "checks: up, ", "", 1),
		"other.yaml": "not read",
	}))
	if err == nil {
		t.Fatal("nothing is wrong with them")
	}
	for _, want := range []string{
		`a.yaml:4:1: unknown field "tilte"`, `a.yaml:5:8: nothing here is called "kubelet"`,
		`l.yaml:4:45: unknown field "extra"`, "l.yaml:5:9: fields are for the ledgers that come with skewrig", "k.yaml:4:3: checks or requirement is missing",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in\n%v", want, err)
		}
	}
}
