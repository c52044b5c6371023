// Package sweeptest has a small sweep in which there is one of each case, for tests.
package sweeptest

import (
	"github.com/skewrig/skewrig/sweep/trial"
)

// Hostile is a text that would do something if a format let it through.
const Hostile = "<script>alert(1)</script> ]]></failure> | ` *x* @octocat \x1b[2J"

var (
	server  = trial.Turn{At: []string{"kube-apiserver"}}
	manager = trial.Turn{At: []string{"kube-controller-manager"}}
)

// Swept is a made-up sweep: of its findings, one is confirmed for two kinds, one is of a component that panics, one is not
// confirmed, and one is known. Of its gates, one has no field that could be reached. Texts of components are hostile.
func Swept() trial.Swept {
	endless := trial.Finding{What: trial.Endless, Touches: trial.Touches{trial.Template}, Items: []trial.Found{
		found("Deployment", "example/v1.Probe.mode", "ProbeMode", trial.Template, "1811 writes of it and of what it owns in 36 s of phase touched"),
		found("StatefulSet", "example/v1.Probe.mode", "ProbeMode", trial.Template, Hostile),
	}}
	endless.Items[0].Also = []string{manager.String()}
	for i := range endless.Items {
		endless.Items[i].Alone, endless.Items[i].Control = &trial.Rate{Red: 3, Runs: 3}, &trial.Rate{Runs: 3}
	}
	refused := trial.Finding{What: trial.Refused, Touches: trial.Touches{trial.Label}, Items: []trial.Found{
		found("Pod", "example/v1.Volume.size", "VolumeSize", trial.Label, "Pod \"s0009\" is invalid: spec.volumes: "+Hostile),
	}}
	refused.Items[0].Alone, refused.Items[0].Control = &trial.Rate{Red: 1, Runs: 3}, &trial.Rate{Runs: 3}
	stored := trial.Finding{What: trial.Stored, Touches: trial.Touches{trial.Create}, Items: []trial.Found{
		found("Pod", "example/v1.Volume.size", "VolumeSize", trial.Create, "1Gi"),
	}}
	stays := trial.Finding{What: trial.Stays, Touches: trial.Touches{trial.Delete}, Items: []trial.Found{
		found("Pod", "", "", trial.Delete, "pods/sweep/s0001 is there at the end"),
	}}
	stays.Items[0].Used, stays.Items[0].Off = trial.Used{}, []string{"VolumeSize"}
	panics := trial.Finding{What: "kube-apiserver panics: k8s.io/example.(*T).Serve", Items: []trial.Found{{Detail: "panic: " + Hostile, Turn: server.String()}}}
	return trial.Swept{
		Version: "v1.90.1", Seed: 7, Gates: []string{"Needed", "NotReached", "ProbeMode", "VolumeSize"}, Turns: []trial.Turn{server, manager},
		Reached: []trial.Reached{
			{Field: "example/v1.Probe.mode", Gates: []string{"ProbeMode"}, APIVersion: "apps/v1", Kind: "Deployment", Path: "spec.mode", Object: map[string]any{"kind": "Deployment"}},
			{Field: "example/v1.Other.name", Gates: []string{"NotReached"}, APIVersion: "v1", Kind: "Pod", Why: "spec.other.name: Forbidden: " + Hostile},
		},
		Plans: []trial.Ran{
			{Plan: trial.Plan{Number: 1, Turn: server, Gates: []string{"ProbeMode", "VolumeSize"}}, Objects: 36, Seconds: 81.4, Found: []string{endless.Signature(), panics.Signature()}},
			{Plan: trial.Plan{Number: 2, Random: true, Turn: server, Gates: []string{"ProbeMode"}, Killed: "kube-apiserver"}, Objects: 150, Seconds: 29.4, Found: []string{}},
		},
		Tried: []trial.Tally{
			{Turn: server.String(), Gate: "ProbeMode", Touch: trial.Label, Objects: 2}, {Turn: server.String(), Gate: "ProbeMode", Touch: trial.Template, Objects: 2},
			{Turn: server.String(), Gate: "VolumeSize", Touch: trial.Create, Objects: 1}, {Turn: server.String(), Gate: "VolumeSize", Touch: trial.Label, Objects: 1},
			{Turn: manager.String(), Gate: "ProbeMode", Touch: trial.Template, Objects: 2},
		},
		Findings: []trial.Finding{panics, endless}, NotConfirmed: []trial.Finding{refused, stays}, Known: []trial.Finding{stored},
	}
}

func found(kind, field, gate string, touch trial.Touch, detail string) trial.Found {
	object := map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "s0001"}, "spec": map[string]any{"mode": "TLS"}}
	use := trial.Use{APIVersion: "apps/v1", Kind: kind, Resource: resources[kind], Namespaced: true, Object: object}
	use.Used = trial.Used{Field: field, Gates: []string{gate}, Path: "spec.mode"}
	return trial.Found{Item: trial.Item{Use: use, Name: "s0001", Touches: trial.Touches{touch}}, Detail: detail, Turn: server.String(), Plan: 1}
}

var resources = map[string]string{"Deployment": "deployments", "StatefulSet": "statefulsets", "Pod": "pods"}
