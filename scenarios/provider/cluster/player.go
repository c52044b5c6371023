package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

// player replaces the images of a cell with the player image, on nodes whose container runtime is not
// skewrig's: containers in requests to the API server have the player image, and an environment variable
// that says which image to simulate. In the record, they have the images of the scenario.
type player struct {
	image, mark string
	named       *strings.Replacer // has playerName in the place of the image
	library     container.Library
	catalog     *image.Catalog
}

func newPlayer(reference, mark string, images []record.Image) (*player, error) {
	library := container.Library{Images: images}
	catalog, err := library.Catalog()
	if err != nil {
		return nil, err
	}
	named, err := image.Parse(reference)
	if err != nil {
		return nil, err
	}
	// A runtime spells it out, and has a digest behind its name.
	known := strings.NewReplacer(named.String(), playerName, reference, playerName, named.Name(), playerName)
	return &player{reference, mark, known, library, catalog}, nil
}

// send is a container as the API server is to have it. What nothing plays stays as it is: an image
// that is meant to be missing.
func (p *player) send(c map[string]any, field string) map[string]any {
	reference, _ := c["image"].(string)
	played, err := p.catalog.Find(reference)
	if reference == "" || err != nil {
		return c
	}
	name, _ := c["name"].(string)
	policy, _ := c["imagePullPolicy"].(string)
	holds := mayHold(c, field)
	plays := container.Plays{
		File: container.File{Reference: reference, Library: p.library}, Mark: p.mark, Container: name,
		Command: texts(c["command"]), Args: texts(c["args"]), Policy: policy, Held: holds,
	}
	value, err := plays.Value()
	if err != nil {
		return c // it is made of what was decoded
	}
	command, args := plays.Command, plays.Args
	if len(command) == 0 {
		command = played.Entrypoint
		if len(args) == 0 {
			args = played.Cmd
		}
	}
	c["image"], c["command"] = p.image, list(append([]string{container.Program}, command...))
	if len(args) > 0 {
		c["args"] = list(args)
	}
	if holds {
		hooks, _ := c["lifecycle"].(map[string]any)
		hooks = maps.Clone(hooks)
		if hooks == nil {
			hooks = make(map[string]any)
		}
		hooks["postStart"], c["lifecycle"] = map[string]any{"exec": map[string]any{"command": list(container.Hold)}}, hooks
	}
	env, _ := c["env"].([]any)
	c["env"] = append(slices.Clone(env), map[string]any{"name": container.Variable, "value": value})
	return c
}

// mayHold reports whether a container of a field of a pod can have a hook after its start that holds up its
// probes, if it has some: it has none of its own, and is none that ends before others begin, or that was added
// to a pod.
func mayHold(c map[string]any, field string) bool {
	probed := c["livenessProbe"] != nil || c["readinessProbe"] != nil || c["startupProbe"] != nil
	hooks, _ := c["lifecycle"].(map[string]any)
	lives := field == "containers" || field == "initContainers" && c["restartPolicy"] == "Always"
	return probed && hooks["postStart"] == nil && lives
}

func texts(of any) (all []string) {
	list, _ := of.([]any)
	for _, one := range list {
		if text, is := one.(string); is {
			all = append(all, text)
		}
	}
	return all
}

func list(of []string) (all []any) {
	for _, text := range of {
		all = append(all, text)
	}
	return all
}

// received is a text of a record, in which containers are as the scenario has them.
func (p *player) received(text string) string {
	if strings.Contains(text, container.Variable) && strings.HasPrefix(text, "{") {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var object any
		if decoder.Decode(&object) == nil {
			found := make(map[string]container.Plays)
			restore(object, found)
			restoreAround(object, found)
			text = compact(object, text)
		}
	}
	return p.named.Replace(text)
}

// playerName is what a record calls the player image where no container says what it plays, whichever registry
// has it.
const playerName = "skewrig.dev/player"

// compact is an object as compact JSON, or else as it was.
func compact(object any, was string) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	if encoder.Encode(object) != nil {
		return was
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// restore makes containers in a part of an object what they are in the scenario, and notes by their names
// what they play.
func restore(part any, found map[string]container.Plays) {
	switch of := part.(type) {
	case []any:
		for _, one := range of {
			restore(one, found)
		}
	case map[string]any:
		for _, value := range of {
			restore(value, found)
		}
		env, _ := of["env"].([]any)
		at := slices.IndexFunc(env, isVariable)
		if at < 0 {
			return
		}
		value, _ := env[at].(map[string]any)["value"].(string)
		plays, err := container.ParsePlays(value)
		if err != nil {
			return
		}
		found[plays.Container] = plays
		of["image"] = plays.Reference
		if _, has := of["imagePullPolicy"]; has {
			of["imagePullPolicy"] = cmp.Or(plays.Policy, defaultPolicy(plays.Reference))
		}
		put(of, "command", list(plays.Command))
		put(of, "args", list(plays.Args))
		put(of, "env", slices.Delete(env, at, at+1))
		if hooks, _ := of["lifecycle"].(map[string]any); plays.Held {
			if delete(hooks, "postStart"); len(hooks) == 0 {
				delete(of, "lifecycle")
			}
		}
	}
}

func isVariable(of any) bool {
	variable, _ := of.(map[string]any)
	return variable["name"] == container.Variable
}

// put sets a field, or takes it away if there is nothing in it.
func put(of map[string]any, field string, value []any) {
	if len(value) == 0 {
		delete(of, field)
		return
	}
	of[field] = value
}

// defaultPolicy is the policy by which a container pulls an image if it does not say so itself
// (https://kubernetes.io/docs/concepts/containers/images/#imagepullpolicy-defaulting).
func defaultPolicy(reference string) string {
	if named, err := image.Parse(reference); err == nil && strings.HasSuffix(named.String(), ":latest") {
		return string(corev1.PullAlways)
	}
	return string(corev1.PullIfNotPresent)
}

// restoreAround makes what else an object says of containers what it would say of those in the scenario:
// their statuses, and who manages their fields.
func restoreAround(part any, played map[string]container.Plays) {
	switch of := part.(type) {
	case []any:
		for _, one := range of {
			restoreAround(one, played)
		}
	case map[string]any:
		for key, value := range of {
			if name, is := strings.CutPrefix(key, `k:{"name":"`); is {
				restoreManaged(value, played[strings.TrimSuffix(name, `"}`)])
			}
			restoreAround(value, played)
		}
		name, _ := of["name"].(string)
		plays, is := played[name]
		if _, status := of["imageID"]; !is || !status {
			return
		}
		if named, err := image.Parse(plays.Reference); err == nil {
			of["image"] = named.String()
		}
	}
}

// restoreManaged is restoreAround of who manages the fields of a container.
func restoreManaged(fields any, plays container.Plays) {
	of, _ := fields.(map[string]any)
	if plays.Reference == "" || of == nil {
		return
	}
	if len(plays.Command) == 0 {
		delete(of, "f:command")
	}
	if len(plays.Args) == 0 {
		delete(of, "f:args")
	}
	if hooks, _ := of["f:lifecycle"].(map[string]any); plays.Held {
		delete(hooks, "f:postStart")
		if empty(hooks) {
			delete(of, "f:lifecycle")
		}
	}
	env, _ := of["f:env"].(map[string]any)
	delete(env, `k:{"name":"`+container.Variable+`"}`)
	if empty(env) {
		delete(of, "f:env")
	}
}

// empty reports whether fields are those of an object with nothing in it.
func empty(fields map[string]any) bool {
	_, own := fields["."]
	return len(fields) == 0 || len(fields) == 1 && own
}
