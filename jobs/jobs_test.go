package jobs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/golden"
)

var run = Run{Name: "skewrig-abcde", Namespace: "ci", Image: "registry.example/skewrig:1", Shards: 4, Args: []string{"run", "kep-4939/**", "mine.yaml", "--repeat=3"}}

func TestJob(t *testing.T) {
	t.Parallel()
	for file, patch := range map[string]string{
		"job.yaml":     "",
		"patched.yaml": "spec: {template: {spec: {imagePullSecrets: [{name: registry}], containers: [{name: skewrig, resources: {requests: {cpu: 4}}}]}}}",
	} {
		job, err := run.Job(file == "job.yaml", []byte(patch))
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+file, string(text))
	}
	for _, patch := range []string{"spec: {templat: {}}", "spec: [", "spec: {completions: many}"} {
		if _, err := run.Job(false, []byte(patch)); err == nil {
			t.Errorf("patch %s: no error", patch)
		}
	}
}

// pod is one of an index, as it is at a time.
func pod(name, index string, second int, change func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{batchv1.JobCompletionIndexAnnotation: index}, CreationTimestamp: metav1.Unix(int64(second), 0)}}
	p.Spec.NodeName = "node-a"
	p.Status.Phase = corev1.PodRunning
	if change != nil {
		change(&p)
	}
	return p
}

func condition(kind corev1.PodConditionType, status corev1.ConditionStatus, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if kind == corev1.PodScheduled {
			p.Status.Phase = corev1.PodPending
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: kind, Status: status, Message: message}}
	}
}

func TestShards(t *testing.T) {
	t.Parallel()
	failed := func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}}}
	}
	deleted := func(p *corev1.Pod) {
		condition(corev1.PodReady, corev1.ConditionTrue, "")(p)
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(9, 0)}
	}
	noImage := func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such host"}}}}
	}
	for _, tc := range []struct {
		pods []corev1.Pod
		want shard
	}{
		{nil, shard{1, "", false, "has no pod yet"}},
		{[]corev1.Pod{pod("a", "1", 1, nil), pod("b", "x", 1, nil)}, shard{1, "", false, "has no pod yet"}},
		{[]corev1.Pod{pod("a", "0", 1, nil)}, shard{1, "a", false, "runs on node-a"}},
		{[]corev1.Pod{pod("a", "0", 1, condition(corev1.PodReady, corev1.ConditionFalse, ""))}, shard{1, "a", false, "runs on node-a"}},
		{[]corev1.Pod{pod("a", "0", 1, condition(corev1.PodReady, corev1.ConditionTrue, ""))}, shard{1, "a", true, "ended on node-a, its report is there"}},
		{[]corev1.Pod{pod("a", "0", 1, deleted)}, shard{1, "a", false, "its pod is deleted, and another one follows"}},
		{[]corev1.Pod{pod("a", "0", 1, failed)}, shard{1, "a", false, "failed on node-a: exit code 2, Error"}},
		{[]corev1.Pod{pod("b", "0", 2, nil), pod("a", "0", 1, failed)}, shard{1, "b", false, "runs on node-a"}},
		{[]corev1.Pod{pod("a", "0", 2, deleted), pod("b", "0", 2, nil)}, shard{1, "b", false, "runs on node-a"}},
		{[]corev1.Pod{pod("a", "0", 1, condition(corev1.PodScheduled, corev1.ConditionFalse, "0/2 nodes are available"))}, shard{1, "a", false, "waits: 0/2 nodes are available"}},
		{[]corev1.Pod{pod("a", "0", 1, noImage)}, shard{1, "a", false, "waits: ErrImagePull: no such host"}},
	} {
		if got := shardsOf(2, tc.pods); len(got) != 2 || got[0] != tc.want {
			t.Errorf("%+v, want %+v", got, tc.want)
		}
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	job := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) batchv1.Job {
		return batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status, Reason: "FailedIndexes", Message: "Job has failed indexes"}}}}
	}
	for _, tc := range []struct {
		job  batchv1.Job
		want string
	}{
		{batchv1.Job{}, ""},
		{job(batchv1.JobFailed, corev1.ConditionTrue), "FailedIndexes: Job has failed indexes"},
		{job(batchv1.JobFailed, corev1.ConditionFalse), ""},
		{job(batchv1.JobFailureTarget, corev1.ConditionTrue), ""},
	} {
		if got := ended(tc.job); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"report.json": {Data: []byte("{}")}, "cells/kep-1/a:b/history.jsonl": {Data: []byte("1\n2\n")}, "empty": {Mode: fs.ModeDir}}
	var b bytes.Buffer
	if err := Pack(&b, files); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "to")
	if err := Unpack(bytes.NewReader(b.Bytes()), dir); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(os.DirFS(dir), "report.json", "cells/kep-1/a:b/history.jsonl", "empty"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cells/kep-1/a:b/history.jsonl")); err != nil || string(text) != "1\n2\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, cut := range []int{b.Len() - 1, b.Len() / 2, 0} {
		if err := Unpack(bytes.NewReader(b.Bytes()[:cut]), filepath.Join(t.TempDir(), "to")); err == nil {
			t.Errorf("the first %d bytes of %d are taken for the whole", cut, b.Len())
		}
	}
}

// TestAHostileArchive: what an archive names goes nowhere but into the directory.
func TestAHostileArchive(t *testing.T) {
	t.Parallel()
	for _, headers := range [][]tar.Header{
		{{Name: "../out", Typeflag: tar.TypeReg}},
		{{Name: "/out", Typeflag: tar.TypeReg}},
		{{Name: "a/../../out", Typeflag: tar.TypeReg}},
		{{Name: "../out", Typeflag: tar.TypeDir}},
		{{Name: "out", Typeflag: tar.TypeSymlink, Linkname: ".."}},
		{{Name: "out", Typeflag: tar.TypeLink, Linkname: "../x"}},
		{{Name: "twice", Typeflag: tar.TypeReg}, {Name: "twice", Typeflag: tar.TypeReg}},
	} {
		var b bytes.Buffer
		zipped := gzip.NewWriter(&b)
		packed := tar.NewWriter(zipped)
		for _, h := range headers {
			h.Mode = 0o644
			if err := packed.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		if packed.Close() != nil || zipped.Close() != nil {
			t.Fatal("closing")
		}
		above := t.TempDir()
		err := Unpack(&b, filepath.Join(above, "to"))
		if err == nil {
			t.Errorf("%s is unpacked", headers[0].Name)
		}
		if left, _ := filepath.Glob(filepath.Join(above, "*")); len(left) != 1 {
			t.Errorf("%s: %v", headers[0].Name, left)
		}
	}
}

// worker works in a directory, with a program that is a script.
func worker(t *testing.T, script string) (Worker, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is to run
		t.Fatal(err)
	}
	var out bytes.Buffer
	return Worker{Program: program, Dir: filepath.Join(dir, "work"), Files: filepath.Join(dir, "files.tar.gz"), Index: "1", Of: 4, Out: &out, Check: func(dir string) error {
		_, err := os.Stat(filepath.Join(dir, "report.json"))
		return err
	}}, &out
}

// TestWorker: a shard runs with its part of the arguments among the user's files, its report is sent, and it ends
// when that was taken.
func TestWorker(t *testing.T) {
	t.Parallel()
	w, out := worker(t, `echo "$@" in $(basename $PWD) with $(ls); mkdir ../report; echo '{}' > ../report/report.json; exit 1`)
	var files bytes.Buffer
	if err := Pack(&files, fstest.MapFS{"mine.yaml": {Data: []byte("id: mine")}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.Files, files.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Send(&files); err == nil || w.Ready() == nil {
		t.Error("it is ready before it began")
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(t.Context(), []string{"sweep", "mine.yaml"}) }()
	for w.Ready() != nil {
		select {
		case err := <-done:
			t.Fatalf("it ended: %v\n%s", err, out)
		case <-time.After(10 * time.Millisecond):
		}
	}
	var sent bytes.Buffer
	if err := w.Send(&sent); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "to")
	if err := Unpack(&sent, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "report.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("%q, %v", text, err)
	}
	select {
	case err := <-done:
		t.Fatalf("it ended before its report was taken: %v", err)
	default:
	}
	if err := w.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if want := "sweep mine.yaml --shard 2/4 --report-dir " + w.report() + " in files with mine.yaml\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// TestAWorkerWithoutAReport: it ends, so that the Job tries again or gives up.
func TestAWorkerWithoutAReport(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"exit 3", "kill -9 $$", "exit 2", "mkdir ../report; exit 0"} {
		w, _ := worker(t, script)
		if err := w.Run(t.Context(), nil); err == nil || w.Ready() == nil {
			t.Errorf("%s: %v, and it is ready: %v", script, err, w.Ready())
		}
	}
	for _, index := range []string{"", "4", "-1", "x"} {
		w, _ := worker(t, "exit 0")
		w.Index = index
		if err := w.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "JOB_COMPLETION_INDEX") {
			t.Errorf("index %q: %v", index, err)
		}
	}
}
