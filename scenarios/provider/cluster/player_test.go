package cluster

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider"
)

const playerReference = "registry.test:5000/skewrig-player:1"

func playing(t *testing.T) (provider.Names, *player) {
	t.Helper()
	p, err := newPlayer(playerReference, "mark", []record.Image{{Image: "registry.test/web", Listen: []behavior.Listener{{Port: 80, Protocol: behavior.HTTP1}}}})
	if err != nil {
		t.Fatal(err)
	}
	return provider.Names{Suffix: "-skewrig-1234-0001", Node: func(name string) string { return name }, Container: p.send}, p
}

// TestContainersArePlayed: the API server is sent what they play, and the record has them as the scenario does.
func TestContainersArePlayed(t *testing.T) {
	t.Parallel()
	n, p := playing(t)
	for name, c := range map[string]struct {
		container, runs string
		holds           bool
	}{
		"an entrypoint":               {`{image: registry.k8s.io/e2e-test-images/agnhost:2.66.1, args: [netexec]}`, `[/agnhost] [netexec]`, false},
		"an entrypoint and a command": {`{image: registry.k8s.io/e2e-test-images/agnhost:2.66.1}`, `[/agnhost] [pause]`, false},
		"a command":                   {`{image: busybox, imagePullPolicy: Never, command: [sh, -c], args: [exit 1]}`, `[sh -c] [exit 1]`, false},
		"a shell":                     {`{image: busybox, env: [{name: A, value: b}]}`, `[] [sh]`, false},
		"an image of the scenario":    {`{image: registry.test/web, livenessProbe: {tcpSocket: {port: 80}}}`, `[/server] []`, true},
		"a hook":                      {`{image: registry.test/web, readinessProbe: {tcpSocket: {port: 80}}, lifecycle: {preStop: {sleep: {seconds: 1}}}}`, `[/server] []`, true},
		"a hook of the same kind":     {`{image: registry.test/web, readinessProbe: {tcpSocket: {port: 80}}, lifecycle: {postStart: {sleep: {seconds: 1}}}}`, `[/server] []`, false},
	} {
		pod := func() map[string]any {
			o := decoded(t, `{kind: Pod, metadata: {name: a, namespace: default}, spec: {containers: [`+c.container+`]}}`)
			o["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["name"] = "app"
			return o
		}
		sent := n.Object(pod())
		of := sent["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		command := texts(of["command"])
		if runs := strings.Join([]string{"[" + strings.Join(command[1:], " ") + "]", "[" + strings.Join(texts(of["args"]), " ") + "]"}, " "); of["image"] != playerReference || command[0] != container.Program || runs != c.runs {
			t.Errorf("%s: %v runs %s, want %s", name, of, runs, c.runs)
		}
		hooks, _ := of["lifecycle"].(map[string]any)
		post, _ := hooks["postStart"].(map[string]any)
		if holds := post["exec"] != nil; holds != c.holds {
			t.Errorf("%s: its hooks are %v", name, hooks)
		}
		text, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		got := decoded(t, strings.ReplaceAll(p.received(string(text)), n.Suffix, ""))
		if diff := cmp.Diff(pod(), got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestWhatNothingPlays stays, as an image that is meant to be missing.
func TestWhatNothingPlays(t *testing.T) {
	t.Parallel()
	n, _ := playing(t)
	patch := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.invalid/none"}}, "values": []any{"x"}}}
	if diff := cmp.Diff(patch, n.Within(patch)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWhatElseIsSaidOfContainers: their statuses, who manages their fields, and what names the image.
func TestWhatElseIsSaidOfContainers(t *testing.T) {
	t.Parallel()
	_, p := playing(t)
	value, err := container.Plays{File: container.File{Reference: "registry.test/web"}, Container: "app", Held: true}.Value()
	if err != nil {
		t.Fatal(err)
	}
	variable, err := json.Marshal([]map[string]string{{"name": container.Variable, "value": value}})
	if err != nil {
		t.Fatal(err)
	}
	got := p.received(`{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:command":{},"f:args":{},"f:image":{},` +
		`"f:env":{".":{},"k:{\"name\":\"SKEWRIG_PLAYS\"}":{}},"f:lifecycle":{".":{},"f:postStart":{}}}}}}}]},` +
		`"spec":{"containers":[{"name":"app","image":"` + playerReference + `","imagePullPolicy":"IfNotPresent","command":["/.skewrig/container"],"env":` + string(variable) + `,"lifecycle":{"postStart":{}}}]},` +
		`"status":{"containerStatuses":[{"name":"app","image":"` + playerReference + `","imageID":"registry.test:5000/skewrig-player@sha256:1","restartCount":12345678901234567890}]}}`)
	const want = `{"metadata":{"managedFields":[{"fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:image":{}}}}}}]},` +
		`"spec":{"containers":[{"image":"registry.test/web","imagePullPolicy":"Always","name":"app"}]},` +
		`"status":{"containerStatuses":[{"image":"registry.test/web:latest","imageID":"skewrig.dev/player@sha256:1","name":"app","restartCount":12345678901234567890}]}}`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := p.received("pulling " + playerReference); got != "pulling skewrig.dev/player" {
		t.Error(got)
	}
}
