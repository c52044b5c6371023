package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/harness/release"
)

// completed is what a shell is offered for the last word of a command line.
func completed(t *testing.T, args ...string) (offered []string, directive string) {
	t.Helper()
	code, stdout, stderr := skewrig(t, append([]string{"__complete"}, args...)...)
	if code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		offered = append(offered, word)
	}
	return offered, lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	const olderKubelet = "kep-4939/skew/older-kubelet/apiserver:" + string(release.Newest) + "/"
	for _, tc := range []struct {
		args      []string
		offered   []string // some of what is offered
		not       string   // which is not
		directive string
	}{
		{[]string{"run", ""}, []string{"kep-4939/", "dwd/"}, "kep-4939/skew/", ":2"},
		{[]string{"run", "--dry-run", "kep-4939/sk"}, []string{"kep-4939/skew/"}, "kep-4939/e2e/", ":2"},
		{[]string{"list", "x", "kep-4939/"}, []string{"kep-4939/**", "kep-4939/skew/"}, "kep-4939/", ":2"},
		{[]string{"podsapi", "list", ""}, nil, "", ":0"},
		{[]string{"cluster", "up", olderKubelet}, []string{olderKubelet + "kubelet:" + string(release.Previous)}, "", ":2"},
		{[]string{"run", "./mine"}, nil, "", ":2"},
		{[]string{"build", "components", "kubelet@"}, []string{"kubelet@" + string(release.Newest), "etcd", string(release.Newest)}, "", ":4"},
		{[]string{"report", "judge", ""}, nil, "", ":16"},
		{[]string{"report", "judge", "report", ""}, nil, "", ":0"},
		{[]string{"report", "show", "report", "-o", ""}, []string{"json", "junit", "text"}, "table", ":4"},
		{[]string{"podsapi", "watch", "-o", ""}, []string{"table", "yaml", "json"}, "text", ":4"},
		{[]string{"kep", "status", "--kep", ""}, []string{"KEP-4939", "dwd"}, "", ":4"},
		{[]string{"simulate", "--as", ""}, []string{"text", "v1.8.0"}, "", ":4"},
		{[]string{"run", "--binary", ""}, []string{"kubelet="}, "", ":6"},
		{[]string{"run", "--binary", "kubelet="}, nil, "", ":0"},
		{[]string{"run", "--report-dir", ""}, nil, "", ":16"},
	} {
		offered, directive := completed(t, tc.args...)
		for _, want := range tc.offered {
			if !slices.Contains(offered, want) {
				t.Errorf("%q: %q is not offered: %q", tc.args, want, offered)
			}
		}
		if len(tc.offered) == 0 && len(offered) > 0 || tc.not != "" && slices.Contains(offered, tc.not) {
			t.Errorf("%q: too much is offered: %q", tc.args, offered)
		}
		if directive != tc.directive {
			t.Errorf("%q: the directive is %s, want %s", tc.args, directive, tc.directive)
		}
	}
}

func TestShellsGetAScript(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, stderr := skewrig(t, "completion", shell); code != 0 || !strings.Contains(stdout, "__complete") {
			t.Errorf("%s: exit code %d: %s", shell, code, stderr)
		}
	}
}

func TestKEPsAreCompletedAsCellsHaveThem(t *testing.T) {
	t.Parallel()
	offered, _ := completeKEPs(nil, nil, "")
	if !slices.Contains(offered, "kep-4939") || slices.Contains(offered, "dwd") {
		t.Errorf("offered are %q", offered)
	}
}

func TestUsageLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][][]string{
		"trace DIR ...":            {{"DIR"}, {"DIR"}, {"DIR"}},
		"judge DIR [FILE ...]":     {{"DIR"}, {"FILE"}, {"FILE"}},
		"run [PATTERN | FILE ...]": {{"PATTERN", "FILE"}, {"PATTERN", "FILE"}, {"PATTERN", "FILE"}},
		"report DIR":               {{"DIR"}, nil, nil},
		"check":                    {nil, nil, nil},
		"get UID | NAMESPACE/NAME": {{"UID", "NAMESPACE/NAME"}, nil, nil},
	} {
		for place := range 3 {
			if diff := cmp.Diff(want[place], namesAt(parseUsage(line), place)); diff != "" {
				t.Errorf("%s, argument %d: %s", line, place, diff)
			}
		}
	}
}

// TestWhatPrintsATablePrintsJSON: each command can print its result as JSON, but
// for those whose result is text for another program.
func TestWhatPrintsATablePrintsJSON(t *testing.T) {
	t.Parallel()
	audited := 0
	var audit func(*cobra.Command)
	audit = func(cmd *cobra.Command) {
		switch cmd.Name() {
		case "shard", // it is what containers of a Job run
			"docs", "init", "ledger", "issue", // they write files
			"schema": // it prints nothing but JSON
			return
		}
		children := cmd.Commands()
		for _, child := range children {
			audit(child)
		}
		if len(children) > 0 {
			return
		}
		audited++
		path := strings.Fields(cmd.CommandPath())[1:]
		offered, _ := completed(t, append(path, "--output", "")...)
		if !slices.Contains(offered, "json") {
			t.Errorf("%s has no --output json", cmd.CommandPath())
		}
		if short := cmd.Flags().ShorthandLookup("o"); short == nil || short.Name != "output" {
			t.Errorf("%s has no -o for --output", cmd.CommandPath())
		}
	}
	audit(newRoot())
	if audited < 14 {
		t.Errorf("%d commands were looked at", audited)
	}
}
