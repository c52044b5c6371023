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
		"rum":                        "unknown command \"rum\" for skewrig: did you mean run?\nSee skewrig --help",
		"-q unheardof":               "unknown command \"unheardof\" for skewrig\nSee skewrig --help",
		"podsapi lsit":               "unknown command \"lsit\" for skewrig podsapi: did you mean list?\nSee skewrig podsapi --help",
		"kep graduat":                "unknown command \"graduat\" for skewrig kep: did you mean graduate?\nSee skewrig kep --help",
		"run --paralle 3":            "unknown flag: --paralle: did you mean --parallel?\nSee skewrig run --help",
		"run --unheardof":            "unknown flag: --unheardof\nSee skewrig run --help",
		"get nodes -o wide":          "unknown command \"get\" for skewrig: skewrig cluster up starts a cluster, and prints the kubeconfig for kubectl\nSee skewrig --help",
		"compare a b":                "unknown command \"compare\" for skewrig: skewrig report diff A B compares two reports\nSee skewrig --help",
		"report compare a b -o json": "unknown command \"compare\" for skewrig report: skewrig report diff A B compares two reports\nSee skewrig report --help",
		"cluster delete --name a":    "unknown command \"delete\" for skewrig cluster: skewrig cluster list lists the clusters that run: Ctrl-C ends and removes one\nSee skewrig cluster --help",
		"kep 753":                    "unknown command \"753\" for skewrig kep: skewrig kep status --kep KEP-753 shows which of its requirements runs prove, skewrig kep graduate kep-753 what its next stage lacks\n",
		"kep status kep-753":         "kep-753 is no report directory: did you mean --kep KEP-753?\n",
		"run -n":                     "unknown shorthand flag: 'n' in -n: did you mean --dry-run?\nSee skewrig run --help",
		"run -count=3":               "unknown shorthand flag: 'c' in -count=3: did you mean --repeat?\n",
		"run -newest v1.36":          "unknown shorthand flag: 'n' in -newest: did you mean --newest?\n",
		"run -parallell 3":           "unknown shorthand flag: 'p' in -parallell: did you mean --parallel?\n",
		"run -kubeconfig a":          "unknown shorthand flag: 'k' in -kubeconfig: it is a setting of --provider-config, as in --provider cluster; see skewrig docs clusters\n",
		"run --kep 753":              "unknown flag: --kep: arguments select cells, such as kep-4939 or '**/skew/**'\n",
		"run -f mine.yaml":           "unknown shorthand flag: 'f' in -f: a file is an argument, such as ./mine.yaml\n",
		"run --from a":               "unknown flag: --from: --newest and --previous are the releases\n",
		"gates --from a":             "unknown flag: --from: two releases are an argument, such as previous..newest\n",
		"init -f pod.yaml":           "unknown shorthand flag: 'f' in -f: did you mean --pod?\n",
		"list -json":                 "unknown shorthand flag: 'j' in -json: did you mean -o json?\n",
		"cluster logs a -c etcd":     "unknown shorthand flag: 'c' in -c: the component is the second argument\n",
		"report show --failed":       "unknown flag: --failed: skewrig report findings -f DIR lists what a run found\n",
		"report judge --known a":     "unknown flag: --known: did you mean --known-deviations?\n",
		"run --dry-run=client":       "invalid argument \"client\" for \"--dry-run\" flag: strconv.ParseBool: parsing \"client\": invalid syntax: --dry-run takes no value\n",
		"report merge a b -o ./c":    "invalid argument \"./c\" for \"-o, --output\" flag: supported values: text, json: --report-dir is the directory\n",
		"list ./...":                 "malformed pattern \"./...\": a segment begins with '.': did you mean \"**\"?\n",
		"run -x":                     "unknown shorthand flag: 'x' in -x\nSee skewrig run --help",
		"podsapi check --unheardof":  "unknown flag: --unheardof\nSee skewrig podsapi check --help",
		"run --parallel":             "flag needs an argument: --parallel (maximum number of cells in parallel (three times as many for cells that share a control plane))\nSee skewrig run --help",
		"run --parallel many":        "invalid argument \"many\" for \"--parallel\" flag: strconv.ParseInt: parsing \"many\": invalid syntax\nSee skewrig run --help",
		"run --provider minikube":    "invalid argument \"minikube\" for \"--provider\" flag: supported values: rig, kind, cluster\nSee skewrig run --help",
		"run --node-image v1.37.1=a": "--node-image goes with --provider kind only",
		"run --provider kind --keep --jobs 2 --node-image a":     "--keep is about rigs: with --provider kind there is none\n--jobs does not go with --provider kind",
		"run --context a --nodes b":                              "--context is about a cluster: it goes with --provider cluster, or some of it with --jobs\n--nodes is about a cluster:",
		"run --provider cluster --keep --isolate --kubeconfig x": "--isolate is about rigs: with --provider cluster there is none\n--keep is about rigs: with --provider cluster there is none\n",
		"run --provider cluster --runtime both":                  "--runtime is about rigs: with --provider cluster there is none\n",
		"run --provider cluster --kubeconfig nowhere":            "reading the kubeconfig: stat nowhere: no such file or directory\n",
		"run --provider-config nowhere.yaml":                     "--provider-config: open nowhere.yaml: no such file or directory\n",
		"run --watch":                                            "--watch needs a scenario file, which ends in .yaml or .yml: \n",
		"run --watch --dry-run":                                  "if any flags in the group [watch dry-run] are set none of the others can be; [dry-run watch] were all set\nSee skewrig run --help",
		"run --watch --jobs 2":                                   "if any flags in the group [watch jobs] are set none of the others can be; [jobs watch] were all set\n",
		"list -o yaml":                                           "invalid argument \"yaml\" for \"-o, --output\" flag: supported values: text, json\nSee skewrig list --help",
		"report diff one two three":                              "report diff: got 3 arguments\nUsage: skewrig report diff A [B]\nSee skewrig report diff --help",
		"kep graduate":                                           "kep graduate: got 0 arguments\nUsage: skewrig kep graduate KEP\nSee skewrig kep graduate --help",
		"cluster list mine":                                      "cluster list: got 1 argument\nUsage: skewrig cluster list\nSee skewrig cluster list --help",
		"cluster up one two":                                     "cluster up: got 2 arguments\nUsage: skewrig cluster up [FILE | CELL]\nSee skewrig cluster up --help",
		"report merge a b":                                       "required flag(s) \"report-dir\" not set\nSee skewrig report merge --help",
		"podsapi serve":                                          "required flag(s) \"scenario\", \"socket\" not set\nSee skewrig podsapi serve --help",
		"init --kep README.md":                                   "if any flags in the group [kep gate] are set they must all be set; missing [gate]\nSee skewrig init --help",
		"init --object deployment.yaml":                          "--gate and --object go with --kep",
		"list --quiet --verbose":                                 "if any flags in the group [quiet verbose] are set none of the others can be; [quiet verbose] were all set\nSee skewrig list --help",
		"build components --prune --for a":                       "if any flags in the group [prune for] are set none of the others can be; [for prune] were all set\nSee skewrig build components --help",
		"build save f --list":                                    "unknown flag: --list\n",
		"build save f --prune":                                   "unknown flag: --prune\n",
		"build save f --overlay a=b":                             "unknown flag: --overlay\n",
		"build save f --source a":                                "unknown flag: --source\n",
		"build save f --binary a=b":                              "unknown flag: --binary\n",
		"build save - -o json":                                   "- writes the archive to standard output, where JSON has no place: leave out one of them\n",
		"build save":                                             "build save: got 0 arguments\nUsage: skewrig build save FILE [COMPONENT@RELEASE | RELEASE | COMPONENT ...]\n",
		"build load f --list":                                    "unknown flag: --list\n",
		"build load f --for mine":                                "unknown flag: --for\n",
		"build load f etcd":                                      "build load: got 2 arguments\nUsage: skewrig build load FILE\n",
		"gates previous..newest WatchList":                       "two releases are compared with all of their gates: leave out WatchList\n",
		"gates 1.36":                                             "\"1.36\" is not a release: did you mean v1.36?\n",
		"completion bash --unheardof":                            "unknown flag: --unheardof\nSee skewrig completion bash --help",
	} {
		code, stdout, stderr := skewrig(t, strings.Fields(line)...)
		for _, notice := range noticesOf(line) { // of flags that are settings of a provider now
			stderr = strings.TrimPrefix(stderr, notice+"\n")
		}
		if code != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "skewrig: "+want) {
			t.Errorf("skewrig %s: exit code %d, printed %q, said\n%s\nwant %d and\n%s", line, code, stdout, stderr, exitUsage, want)
		}
	}
}

func noticesOf(line string) []string {
	_, notices := renamed(newRoot(), strings.Fields(line))
	return notices
}

// TestHelpFitsTheTerminal: its flags, too, whose texts then stand in a column.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, path := range [][]string{{}, {"run"}, {"cluster", "up"}, {"podsapi", "serve"}} {
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
	run, _, err := newRoot().Find([]string{"build", "components"})
	if err != nil {
		t.Fatal(err)
	}
	const wrapped = `
      --binary stringArray     use a prebuilt binary:
                               COMPONENT=PATH for the release
`
	if text := help(run, 70); !strings.Contains(text, wrapped) {
		t.Errorf("the text of a flag is not in a column:\n%s", text)
	}
}
