package show_test

import (
	"bytes"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/scenarios/law/rest"
	"github.com/skewrig/skewrig/sweep/show"
	"github.com/skewrig/skewrig/sweep/story"
	"github.com/skewrig/skewrig/sweep/trial"
)

func TestStoryDraft(t *testing.T) {
	t.Parallel()
	config := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "it", "namespace": "story-01"}}
	fault := story.Step{"stale": map[string]any{"from": "kube-scheduler", "resource": "pods"}}
	s := story.Story{Name: "one", Dimension: "owners", Gates: map[string]bool{"AllAlpha": true}, Objects: []map[string]any{config}, Acts: []story.Act{
		{Words: "changed", Steps: []story.Step{
			{"patch": map[string]any{"object": "configmaps/story-01/it", "merge": map[string]any{"data": map[string]any{"key": "it's"}}}},
			{"patch": map[string]any{"object": "pods/story-01/a", "merge": map[string]any{"status": map[string]any{"phase": "Failed"}}}}, {"wait": map[string]any{"for": "5s"}},
			{"patch": map[string]any{"object": "pods/story-01/a", "subresource": "resize", "merge": map[string]any{}}},
			{"delete": map[string]any{"object": "nodes/a", "propagation": "Background"}}, {"delete": map[string]any{"each": "pods/story-01"}}, {"apply": []any{config}},
		}},
		{Words: "changed while a watch is late", Fault: &fault, Steps: []story.Step{{"delete": map[string]any{"object": "configmaps/story-01/it"}}}},
		{Words: "not seen any more", Steps: []story.Step{fault}},
	}}
	law := rest.All()[0]
	d := show.StoryDraft{
		Finding: story.Finding{Law: law.Breach, Resource: "replicasets"}, Version: "v1.90.1", Story: s, Scenario: "scenarios/one.yaml", Control: "scenarios/one-control.yaml",
		Found: story.Found{Act: 2, Object: "replicasets/story-01/web", Detail: "0 pods, where spec.replicas is 1", Alone: &trial.Rate{Red: 3, Runs: 3}, Control: &trial.Rate{Runs: 3}},
	}
	var b bytes.Buffer
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/story.md", b.String())
}
