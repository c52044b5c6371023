package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/internal/texts"
)

// namesReleases says which files may name a patch release of Kubernetes, each pattern with the reason.
// All others write newest, previous, n-2, a minor version, or vX.Y.Z, so that a new release changes no
// page, help text or example. Invented releases of tests (v1.89 and v1.90) are none of Kubernetes.
var namesReleases = []struct{ files, why string }{
	{"harness/release/*", "the table of releases"},
	{"harness/build/locks/*", "the locks of releases"},
	{"**/go.mod", "versions of other modules"},
	{"**/go.sum", "versions of other modules"},
	{"**/testdata/**", "recorded input and output of tests"},
	{"**/*_test.go", "tests of the table, of recorded results and of regressions"},
	{"scenarios/catalog/known-deviations.yaml", "the releases that have a bug"},
	{"scenarios/catalog/regressions/*", "the releases that have a bug"},
	{"scenarios/ledger/**", "places in the sources of a release"},
	{"docs/examples/report/**", "a recorded run"},
	{"docs/pictures/*", "a recorded run"},
	{"docs/examples/kind-cluster.yaml", "the file format of kind, whose images have patch releases"},
	{"harness/build/lock.go", "the modules that a release needs beside its own"},
	{"reports/narrate/**", "the release in which a default changed"},
}

var (
	patchRelease = regexp.MustCompile(`\bv1\.[2-7][0-9]\.[0-9]+\b`)
	goComment    = regexp.MustCompile(`(?m)^\s*//.*$`)
	webAddress   = regexp.MustCompile(`https?://[^\s)>"]+`)
	// recordedBlock is a block of a page with the output of commands, which tests compare or which is a
	// recorded session.
	recordedBlock = regexp.MustCompile("(?ms)^```(?:console)?\n.*?^```$")
)

// releasesIn are the patch releases that a file names by itself: not in a web address of a source, in a
// recorded block of a page, or in a comment of Go, which says where a fact is from.
func releasesIn(name, text string) []string {
	switch path.Ext(name) {
	case ".md":
		text = recordedBlock.ReplaceAllString(text, "")
	case ".go":
		text = goComment.ReplaceAllString(text, "")
	}
	return patchRelease.FindAllString(webAddress.ReplaceAllString(text, ""), -1)
}

// matches reports whether a pattern matches a path: ** is any run of segments, * any run within one.
func matches(pattern, name string) bool {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.ReplaceAll(quoted, `\*\*/`, `(?:.*/)?`)
	quoted = strings.ReplaceAll(quoted, `\*\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\*`, `[^/]*`)
	return regexp.MustCompile("^" + quoted + "$").MatchString(name)
}

func TestPatternsOfFiles(t *testing.T) {
	t.Parallel()
	for pattern, names := range map[string][2]string{
		"**/go.mod": {"go.mod", "go.modest"}, "a/**": {"a/b/c", "b/a/c"}, "a/*": {"a/b", "a/b/c"}, "**/x/**": {"a/x/b", "a/xy/b"},
	} {
		if !matches(pattern, names[0]) || matches(pattern, names[1]) {
			t.Errorf("%s matches %s: %t, %s: %t", pattern, names[0], matches(pattern, names[0]), names[1], matches(pattern, names[1]))
		}
	}
}

func TestReleasesAreFound(t *testing.T) {
	t.Parallel()
	page := "v1.37.1, v1.90.1, v1.36, https://github.com/x/blob/v1.36.3/a.go\n```console\n$ a v1.35.4\n```\n```sh\na v1.34.4\n```\n"
	if got := releasesIn("docs/a.md", page); !slices.Equal(got, []string{"v1.37.1", "v1.34.4"}) {
		t.Errorf("a page names %q", got)
	}
	if got := releasesIn("a.go", "\t// of v1.36.3\nconst a = `v1.36.3-rc.0`"); len(got) != 1 {
		t.Errorf("a file names %q", got)
	}
}

// TestNoFileNamesAPatchRelease but those of namesReleases, each of which is needed.
func TestNoFileNamesAPatchRelease(t *testing.T) {
	t.Parallel()
	used := make(map[string]bool)
	extensions := []string{".go", ".md", ".yaml", ".yml", ".txt", ".json", ".jsonl", ".svg", ".mod", ".sum", ".sh", ".html", ".js", ""}
	err := texts.Each(extensions, []string{"docs/commands"}, func(name, text string) {
		found := releasesIn(name, text)
		if len(found) == 0 {
			return
		}
		for _, allowed := range namesReleases {
			if matches(allowed.files, name) {
				used[allowed.files] = true
				return
			}
		}
		slices.Sort(found)
		t.Errorf("%s names %s: write newest, previous, n-2, a minor version or vX.Y.Z", name, strings.Join(slices.Compact(found), ", "))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, allowed := range namesReleases {
		if !used[allowed.files] {
			t.Errorf("no file of %s names a patch release: remove the entry", allowed.files)
		}
	}
}
