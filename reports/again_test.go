package reports

import (
	"regexp"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
)

func TestDirFor(t *testing.T) {
	t.Parallel()
	const older = "kep-4939/skew/older-kubelet/apiserver:v1.90.1/kubelet:v1.89.3"
	for _, c := range []struct {
		cells []string
		want  string
	}{
		{[]string{older}, "report-older-kubelet"},
		{[]string{"kep-4939/skew/older-kubelet/apiserver:v1.90.1/kubelet:v1.88.0"}, "report-older-kubelet"},
		{[]string{older, "kep-4939/skew/newer-kubelet"}, "report-skew"},
		{[]string{older, "kep-4939/upgrade/kubelet"}, "report-kep-4939"},
		{[]string{older, "dwd/race/defaults"}, "report-cells"},
		{[]string{"kep-4939/skew/**"}, "report-skew"},
		{[]string{"**"}, "report-cells"},
		{[]string{"a/it's/**"}, "report-it-s"},
		{nil, "report-cells"},
	} {
		got := DirFor(nil, c.cells...)
		if !regexp.MustCompile("^" + c.want + "-[0-9a-f]{6}$").MatchString(got) {
			t.Errorf("of %q: %s, want %s-...", c.cells, got, c.want)
		}
	}
	if DirFor(nil, older) == DirFor(nil, older[:len(older)-1]) {
		t.Error("two cells have one directory")
	}
	own := DirFor(nil, older)
	for _, from := range []string{"skewrig run '" + older + "' --report-dir " + own, "/tmp/" + own, "skewrig run --rerun-failed=" + own} {
		if got := DirFor([]string{from}, older); got != own+"-again" {
			t.Errorf("printed from %s: %s", from, got)
		}
	}
}

func TestAgain(t *testing.T) {
	t.Parallel()
	for commands, want := range map[string]string{
		"skewrig run": "skewrig run --report-dir report-again",
		"skewrig run 'a/**' --report-dir out --seed 4":       "skewrig run 'a/**' --report-dir out-again --seed 4",
		"skewrig run out --report-dir=/a/out/":               "skewrig run out --report-dir=/a/out-again",
		"skewrig run --report-dir 'my out'":                  "skewrig run --report-dir 'my out-again'",
		"skewrig run --report-dir .":                         "skewrig run --report-dir again",
		"skewrig run --report-dir out --rerun-failed report": "skewrig run --report-dir out-again --rerun-failed report",
		"skewrig run --rerun-failed report":                  "skewrig run --rerun-failed report --report-dir report-rerun-again",
		"skewrig run --rerun-failed 'my out'":                "skewrig run --rerun-failed 'my out' --report-dir 'my out-rerun-again'",
		"skewrig podsapi check":                              "skewrig podsapi check",
		"skewrig podsapi check --report-dir report":          "skewrig podsapi check --report-dir report-again",
		"skewrig run\nskewrig run --rerun-failed report\nskewrig report merge ./report report-rerun/ --report-dir both": "skewrig run --report-dir report-again\n" +
			"skewrig run --rerun-failed report-again --report-dir report-rerun-again\n" +
			"skewrig report merge report-again report-rerun-again --report-dir both-again",
	} {
		if got := Again(commands); got != want {
			t.Errorf("%s\nis now\n%s\nwant\n%s", commands, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"out": "out", "a/b:v1": "a/b:v1", "--x=1": "--x=1", "my out": "'my out'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'", "a*": "'a*'", "^": "'^'",
	} {
		if got := Quoted(in); got != want || unquoted(got) != in {
			t.Errorf("%s, want %s; it is read as %q", got, want, unquoted(got))
		}
	}
}

func TestTheListThatARunWasGiven(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"skewrig run mine": "", "skewrig run mine --known-deviations k.yaml": "k.yaml", "skewrig run --known-deviations='my own.yaml' mine": "my own.yaml",
	} {
		if got := (Reproduce{Command: command}).KnownDeviations(); got != want {
			t.Errorf("%s was given %q, want %q", command, got, want)
		}
	}
}

// TestCellAgain: a user's own cell needs its file, and a list of known deviations is none.
func TestCellAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		made  Reproduce
		file  string
		want  string
		whole bool
	}{
		{Reproduce{Command: "skewrig run mine --known-deviations k.yaml"}, "", "skewrig run 'a/b' --report-dir out", false},
		{Reproduce{Command: "skewrig run mine.yaml"}, "", "skewrig run mine.yaml --report-dir report-again", true},
		{Reproduce{Command: "skewrig run mine.yaml"}, "mine.yaml", "skewrig run mine.yaml 'a/b' --report-dir out", false},
		{Reproduce{Command: "skewrig run mine.yaml 'a/**'"}, "catalog.yaml", "skewrig run 'a/b' --report-dir out", false},
		{Reproduce{Command: "skewrig run $FILES", Files: []string{"./my own.yaml"}}, "my own.yaml", "skewrig run 'my own.yaml' 'a/b' --report-dir out", false},
	} {
		if got, whole := c.made.CellAgain(Cell{ID: "a/b", File: c.file}, "out"); got != c.want || whole != c.whole {
			t.Errorf("%+v of %q: %s, %t, want %s", c.made, c.file, got, whole, c.want)
		}
	}
}

// TestCellAgainOnARuntime: what ran on real containers runs there again, and on both where it was compared.
func TestCellAgainOnARuntime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ made, id, want string }{
		{"skewrig run a --runtime containerd", "a/b", "skewrig run 'a/b' --report-dir out --runtime containerd"},
		{"skewrig run --runtime=both a", "a/b/runtime:containerd", "skewrig run 'a/b' --report-dir out --runtime both"},
		{"skewrig run a", "a/b/runtime:containerd", "skewrig run 'a/b/runtime:containerd' --report-dir out"},
	} {
		if got, _ := (Reproduce{Command: c.made}).CellAgain(Cell{ID: c.id}, "out"); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.made, c.id, got, c.want)
		}
	}
}

func TestACellSaysHowItIsRunAgain(t *testing.T) {
	t.Parallel()
	c := Cell{ID: "upstream/pods/run", Again: "skewrig upstream --focus 'Pods run'"}
	made := Reproduce{Command: "skewrig upstream --report-dir report"}
	command, whole := made.CellAgain(c, "report-pods")
	if want := "skewrig upstream --focus 'Pods run' --report-dir report-pods"; command != want || whole {
		t.Errorf("again: %s (whole: %v), want %s", command, whole, want)
	}
}

// TestCellAgainOnAPair: whoever has another pair by default runs the same releases.
func TestCellAgainOnAPair(t *testing.T) {
	t.Parallel()
	r := Reproduce{Command: "skewrig run", Newest: "v1.90.1", Previous: "v1.89.3"}
	if got, _ := r.CellAgain(Cell{ID: "a/b/c"}, "again"); got != "skewrig run 'a/b/c' --report-dir again --newest v1.90.1 --previous v1.89.3" {
		t.Error(got)
	}
	r.Newest, r.Previous = release.Newest, release.Previous
	if got, _ := r.CellAgain(Cell{ID: "a/b/c"}, "again"); got != "skewrig run 'a/b/c' --report-dir again" {
		t.Error(got)
	}
}
