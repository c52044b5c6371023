package main

import (
	"strings"
	"testing"
)

// TestAWrongCommandLine: what is wrong, what may have been meant, and where to read on.
func TestAWrongCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // if one is taken for right, it builds and removes nothing
	t.Setenv("PATH", t.TempDir())
	for line, want := range map[string]string{
		"rum":                        "skewrig has no command \"rum\": did you mean run?\nSee skewrig --help",
		"-q unheardof":               "skewrig has no command \"unheardof\"\nSee skewrig --help",
		"podsapi lsit":               "podsapi has no command \"lsit\": did you mean list?\nSee skewrig podsapi --help",
		"run --paralle 3":            "run has no flag --paralle: did you mean --parallel?\nSee skewrig run --help",
		"run --unheardof":            "run has no flag --unheardof\nSee skewrig run --help",
		"run -x":                     "run has no flag -x\nSee skewrig run --help",
		"podsapi check --unheardof":  "podsapi check has no flag --unheardof\nSee skewrig podsapi check --help",
		"run --parallel":             "--parallel of run lacks its value: how many cells run in parallel that have a control plane of their own; three times as many that share one\nSee skewrig run --help",
		"run --parallel many":        "--parallel can't be \"many\": it must be a whole number\nSee skewrig run --help",
		"run --provider minikube":    "--provider can't be \"minikube\": it can be rig, kind or cluster\nSee skewrig run --help",
		"run --node-image v1.37.1=a": "--node-image goes with --provider kind only",
		"run --provider kind --keep --jobs 2 --node-image a":     "--keep is about rigs: with --provider kind there is none\n--jobs does not go with --provider kind",
		"run --context a --nodes b":                              "--context is about a cluster: it goes with --provider cluster, or some of it with --jobs\n--nodes is about a cluster:",
		"run --provider cluster --keep --isolate --kubeconfig x": "--isolate is about rigs: with --provider cluster there is none\n--keep is about rigs: with --provider cluster there is none\n",
		"run --provider cluster --runtime both":                  "--runtime is about rigs: with --provider cluster there is none\n",
		"run --provider cluster --kubeconfig nowhere":            "reading the kubeconfig: stat nowhere: no such file or directory\n",
		"list -o yaml":                     "--output can't be \"yaml\": it can be text or json\nSee skewrig list --help",
		"diff one two three":               "diff is not called with 3 arguments, but as skewrig diff A [B]\nSee skewrig diff --help",
		"graduate":                         "graduate lacks an argument: it is called as skewrig graduate KEP\nSee skewrig graduate --help",
		"ps mine":                          "ps takes no argument, and \"mine\" is one\nSee skewrig ps --help",
		"up one two":                       "up is not called with 2 arguments, but as skewrig up [FILE | CELL]\nSee skewrig up --help",
		"report merge a b":                 "report merge lacks --report-dir (directory for the merged report; ",
		"podsapi serve":                    "podsapi serve lacks --scenario (",
		"list --quiet --verbose":           "--quiet and --verbose exclude each other: give one of them\nSee skewrig list --help",
		"build --prune --for mine":         "--for and --prune exclude each other: give one of them\nSee skewrig build --help",
		"build --export f --list":          "--export and --list exclude each other: give one of them\nSee skewrig build --help",
		"build --export f --prune":         "--export and --prune exclude each other: ",
		"build --export f --import g":      "--export and --import exclude each other: ",
		"build --export f --overlay a=b":   "--export and --overlay exclude each other: ",
		"build --export f --binary a=b":    "--binary and --export exclude each other: ",
		"build --export - -o json":         "--export - writes the archive to standard output, where JSON has no place: leave out one of them\n",
		"build --export=":                  "--export names no file: name one, or - for standard output\n",
		"build --import f --list":          "--import and --list exclude each other: ",
		"build --import f --prune":         "--import and --prune exclude each other: ",
		"build --import f --for mine":      "--for and --import exclude each other: ",
		"build --import f etcd":            "--import takes all that the file has: leave out etcd\n",
		"gates previous..newest WatchList": "two releases are compared with all of their gates: leave out WatchList\n",
		"gates 1.36":                       "\"1.36\" is not a release: did you mean v1.36?\n",
		"trace":                            "give the report directory of a run, --text with the texts of the proposals, or both\n",
		"completion bash --unheardof":      "completion bash has no flag --unheardof\nSee skewrig completion bash --help",
	} {
		code, stdout, stderr := skewrig(t, strings.Fields(line)...)
		if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "skewrig: "+want) {
			t.Errorf("skewrig %s: exit code %d, printed %q, said\n%s\nwant %d and\n%s", line, code, stdout, stderr, exitUsage, want)
		}
	}
}

// TestHelpFitsTheTerminal: its flags, too, whose texts then stand in a column.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, path := range [][]string{{}, {"run"}, {"up"}, {"podsapi", "serve"}} {
		cmd, _, err := newRoot().Find(path)
		if err != nil {
			t.Fatal(err)
		}
		const width = 70
		text := help(cmd, width)
		for line := range strings.Lines(text) {
			if len(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("help of %v: wider than %d: %s", path, width, line)
			}
		}
		if wide := help(cmd, 0); strings.Join(strings.Fields(wide), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("help of %v: says something else when it is narrow:\n%s\nnot\n%s", path, text, wide)
		}
	}
	run, _, err := newRoot().Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	const wrapped = `
      --binary stringArray        use a prebuilt binary:
                                  COMPONENT=PATH for the release
`
	if text := help(run, 70); !strings.Contains(text, wrapped) {
		t.Errorf("the text of a flag is not in a column:\n%s", text)
	}
}
