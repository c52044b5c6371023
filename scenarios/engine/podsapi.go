package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// sparing is what lies between the requests of an agent that asks once in each step: a
// kubelet answers ten at once, and then one every ten milliseconds.
const sparing = 15 * time.Millisecond

// AskPods implements action.Rig: the agent of a node asks its kubelet for pods.
func (r *run) AskPods(ctx context.Context, ask action.PodsAPI) error {
	name := r.current.Name
	agent, err := r.agent(ask.Node)
	if err != nil {
		return err
	}
	request := client.Request{Method: client.ListPods, Fields: ask.Fields, Service: ask.Service}
	switch ask.Call {
	case action.WatchPods:
		if ask.Times > 0 {
			request.Method = client.WatchPods
			break
		}
		if ask.Hold {
			return agent.Hold(ctx, name, ask.Fields)
		}
		return agent.Watch(ctx, name, ask.Fields, time.Duration(ask.Pause))
	case action.PollPods:
		return agent.Poll(ctx, name, request, time.Duration(ask.Every))
	case action.RemoveSocket:
		return client.Remove(agent.Root)
	case action.BlockSocket:
		return client.Block(agent.Root)
	case action.ReadPods:
		if !agent.Release(ask.Of) {
			return fmt.Errorf("no watch named %q is held", ask.Of)
		}
		return nil
	case action.EndPods:
		if !agent.End(ask.Of) {
			return fmt.Errorf("no watch or poll named %q is running", ask.Of)
		}
		return nil
	case action.GetPod:
		request.Method, request.UID = client.GetPod, ask.UID
		if ask.Pod != "" {
			if request.UID, err = uidOf(r.history.Events(), ask.Pod); err != nil {
				return fmt.Errorf("%w: %w", errUnmet, err)
			}
		}
	}
	every := time.Duration(ask.Every)
	if ask.Times == 0 {
		every = cmp.Or(every, sparing)
	}
	return agent.Ask(ctx, name, request, max(ask.Times, 1), every)
}

// agent returns the agent of a node.
func (r *run) agent(node string) (*client.Agent, error) {
	if r.agents[node] == nil {
		dirs, err := provider.As[provider.KubeletDirs](r.session)
		if err != nil {
			return nil, err
		}
		root, err := dirs.KubeletDir(node)
		if err != nil {
			return nil, err
		}
		r.agents[node] = &client.Agent{Node: node, Root: root, Recorder: r.history}
	}
	return r.agents[node], nil
}

func (r *run) closeAgents() {
	for _, agent := range r.agents {
		agent.Close()
	}
}

// uidOf returns the UID of a pod as it was seen last: by an agent, or else at the
// API server, which has another one for a static pod.
func uidOf(events []record.Event, pod string) (string, error) {
	for _, e := range slices.Backward(events) {
		for _, text := range shownPods(e) {
			if m := timeline.NewVersion("pods", text).Meta(); timeline.Name(m.Namespace, m.Name) == pod {
				return string(m.UID), nil
			}
		}
	}
	return "", fmt.Errorf("pod %s is not known yet", pod)
}

// shownPods are the pods of an answer to an agent, or the one of the API server.
func shownPods(e record.Event) []json.RawMessage {
	if seen, ok := record.As[record.ObjectObserved](e); ok && seen.Resource == "pods" {
		return []json.RawMessage{seen.Object}
	}
	var answer struct{ List []json.RawMessage }
	switch e.Kind {
	case record.PodsAnswer{}.EventKind(), record.PodsPolled{}.EventKind():
		_ = json.Unmarshal(e.Data, &answer) // this program wrote it
	}
	return answer.List
}
