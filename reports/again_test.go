package reports

import (
	"regexp"
	"testing"
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
