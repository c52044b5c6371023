package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestScenariosOfFindingsAreScenarios: what a sweep writes for its findings can be run.
func TestScenariosOfFindingsAreScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../sweep/trial/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		cells, err := here.Select([]string{file})
		if err != nil || len(cells) != 1 || !strings.HasPrefix(cells[0].ID, "sweep/grpccontainerprobetls/deployment-") {
			t.Errorf("%s: %d cells, %v", file, len(cells), err)
		}
	}
}

// TestSweepEndsWhenItIsInterrupted, also while its plans have nothing to run.
func TestSweepEndsWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	state := &swept{plans: make(map[int]trial.Plan), tried: trial.NewTried()}
	state.Transitions = trial.Transitions(nil, release.Newest, "")
	if err := (Sweep{}).random(ctx, state, time.Now().Add(time.Second)); !errors.Is(err, context.Canceled) {
		t.Errorf("it goes on: %v", err)
	}
}

// TestTargetsOfSweep: what it changes to is compiled before it begins.
func TestTargetsOfSweep(t *testing.T) {
	t.Parallel()
	s := Sweep{At: []string{record.Scheduler, trial.Emulation}, To: "v1.36.5"}
	s.Release.Version = "v1.37.2"
	var got []string
	for _, target := range s.targets() {
		got = append(got, target.String())
	}
	want := []string{
		"etcd@" + string(release.Etcd), "kube-apiserver@v1.37.2", "kube-controller-manager@v1.37.2", "kube-scheduler@v1.37.2",
		"kubelet@v1.37.2", "kube-scheduler@v1.36.5",
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestScenariosOfASource ask for the release that the source stands in for: a scenario can't name a checkout.
func TestScenariosOfASource(t *testing.T) {
	t.Parallel()
	const source = "v1.37.2-1+8a43e8966a2ee4.5aabcd58"
	service := map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s1"}}
	found := trial.Found{Item: trial.Item{Name: "s1", Use: trial.Use{Kind: "Service", Object: service}, Mutations: trial.Mutations{trial.Label}}, Transition: "gates off at kube-apiserver", Off: []string{"ThingGate"}}
	state := &swept{Result: trial.Result{
		Version: source, Transitions: trial.Transitions([]string{record.APIServer}, source, ""),
		Findings: []trial.Finding{{What: law.Refused, Items: []trial.Found{found}}},
	}}
	dir := t.TempDir()
	all, err := state.writeScenarios(dir, release.Sources{{Instead: "v1.37.2", Version: source}})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d scenarios, %v", len(all), err)
	}
	for _, file := range all[0].files {
		if text := readFile(t, file); strings.Contains(text, source) || !strings.Contains(text, "version: v1.37.2\n") {
			t.Errorf("%s", text)
		}
	}
}

// TestIsWhole: a sweep that broke off left a file, too.
func TestIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := HasReport(dir); err == nil {
		t.Error("nothing is there")
	}
	for want, s := range map[string]trial.Result{"": {}, "did not run to its end": {Partial: true}} {
		if err := writeJSON(filepath.Join(dir, sweptFile), s); err != nil {
			t.Fatal(err)
		}
		err := HasReport(dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, joined := JoinSweeps([]string{dir}, t.TempDir(), "skewrig", nil); want != "" && (joined == nil || joined.Error() != err.Error()) {
			t.Errorf("joining: %v, want %v", joined, err)
		}
	}
}

// TestSweepGoesOnWithAPartialOne, and is one until it has run to its end.
func TestSweepGoesOnWithAPartialOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, partial := range []bool{true, false} {
		had := swept{Result: trial.Result{Seed: 7, Partial: partial}}
		if err := had.write(dir); err != nil {
			t.Fatal(err)
		}
		state := swept{Result: trial.Result{Seed: 7, Partial: true}}
		if err := state.read(dir); err != nil || !state.Partial {
			t.Errorf("partial %t: it goes on as a partial one: %t, %v", partial, state.Partial, err)
		}
	}
}

// TestAnEarlierSweepStays until the shards of another one are there.
func TestAnEarlierSweepStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeJSON(filepath.Join(dir, sweptFile), trial.Result{}); err != nil {
		t.Fatal(err)
	}
	j := Jobs{Config: &rest.Config{Host: "http://127.0.0.1:1"}, Tell: func(string) {}}
	j.Run.Shards = 1
	if _, err := SweepJobs(t.Context(), dir, nil, j); err == nil {
		t.Error("there is no cluster")
	}
	if !IsSweep(dir) {
		t.Error("what was there is gone")
	}
}
