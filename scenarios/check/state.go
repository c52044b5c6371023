package check

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// defaultNamespace is left out of the names by which expressions refer to
// objects.
const defaultNamespace = "default/"

// PodName is what expressions call a pod: its name, and its namespace before that
// if it is not the default one.
func PodName(namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+name, defaultNamespace)
}

// state is what a history amounts to at one moment: the variables that
// expressions see. It grows by one event at a time.
type state struct {
	runs        map[string]*Container
	containers  map[string]any // runs, as expressions see them
	connections map[string][]any
	objects     map[string]any
	pods        map[string]any
	events      map[string][]any
	eventAt     map[string]int // by name of the Event object: its place in events
	requests    map[string]any
	history     map[string][]any // by object: all versions of it that were seen
	metrics     map[string]any
	logs        map[string]any // by step: lists of lines
	components  map[string]any
	known       map[string]bool // pods and containers that were ever seen
	cuts        cuts
	landscape   landscape
	agents      agents
}

func newState() *state {
	return &state{
		runs:        make(map[string]*Container),
		containers:  make(map[string]any),
		connections: make(map[string][]any),
		objects:     make(map[string]any),
		pods:        make(map[string]any),
		events:      make(map[string][]any),
		eventAt:     make(map[string]int),
		requests:    make(map[string]any),
		history:     make(map[string][]any),
		metrics:     make(map[string]any),
		logs:        make(map[string]any),
		components:  make(map[string]any),
		known:       make(map[string]bool),
		cuts:        cuts{nodes: make(map[string]string), stopped: make(map[string]time.Time)},
		landscape:   newLandscape(),
		agents:      newAgents(),
	}
}

// apply adds one event, and reports whether expressions can see a difference.
func (s *state) apply(e record.Event) bool {
	name := strings.TrimPrefix(e.Subject, defaultNamespace)
	s.landscape.at(e) // the first one is the beginning
	switch e.Kind {
	case record.SandboxStarted{}.EventKind():
		s.sandboxStarted(name, e)
	case record.ContainerStarted{}.EventKind():
		s.containerStarted(name)
	case record.ContainerExited{}.EventKind():
		s.containerExited(name, e)
	case record.Connection{}.EventKind():
		s.connected(name, e)
	case record.ObjectObserved{}.EventKind():
		s.object(e)
	case record.ComponentStarted{}.EventKind():
		s.components[e.Subject] = decode(e.Data)
	case record.ComponentStopped{}.EventKind():
		delete(s.components, e.Subject)
		s.cutOff(e.Subject, e.At)
	case record.StepStarted{}.EventKind():
		s.cuts.short = nil
		s.landscape.since = s.landscape.at(e)
		return false
	case record.Scraped{}.EventKind():
		s.scraped(e)
	case record.LogRead{}.EventKind():
		read, _ := record.As[record.LogRead](e)
		s.logs[e.Subject] = decoded(read.Lines)
	case record.LinkRequest{}.EventKind():
		s.landscape.called(e)
	case record.LeaseAges{}.EventKind():
		s.landscape.renewed(e)
	case record.APIAnswer{}.EventKind():
		s.answered(e)
	default:
		return s.agents.saw(e, s.landscape.at(e))
	}
	return true
}

// answered keeps an answer. A pod that it says was created is known from then on:
// the watch that shows it may be late.
func (s *state) answered(e record.Event) {
	s.requests[e.Subject] = decode(e.Data)
	answer, _ := record.As[record.APIAnswer](e)
	if pod, isPod := strings.CutPrefix(answer.Object, "pods/"); isPod && answer.Code == http.StatusCreated {
		s.known[strings.TrimPrefix(pod, defaultNamespace)] = true
	}
}

// connection is a connection with a list of requests also where there were
// none: expressions ask for it all the time.
func connection(e record.Event) any {
	seen := decode(e.Data)
	if m, ok := seen.(map[string]any); ok && m["requests"] == nil {
		m["requests"] = []any{}
	}
	return seen
}

func (s *state) container(name string) *Container {
	if s.runs[name] == nil {
		s.runs[name] = &Container{Exits: []Exit{}}
	}
	return s.runs[name]
}

// sandboxStarted forgets the containers of an earlier pod of the same name.
func (s *state) sandboxStarted(pod string, e record.Event) {
	s.known[pod] = true
	s.cuts.nodes[pod] = strings.TrimPrefix(e.Source, "runtime/")
	if started, ok := record.As[record.SandboxStarted](e); !ok || started.Attempt > 0 {
		return
	}
	for name := range s.containers {
		if strings.HasPrefix(name, pod+"/") {
			delete(s.runs, name)
			delete(s.containers, name)
			delete(s.connections, name)
		}
	}
}

func (s *state) containerStarted(name string) {
	s.known[name] = true
	c := s.container(name)
	c.Restarts = c.Starts
	c.Starts++
	c.Running = true
	s.containers[name] = decoded(c)
}

func (s *state) containerExited(name string, e record.Event) {
	exit, ok := record.As[record.ContainerExited](e)
	if !ok {
		return
	}
	c := s.container(name)
	c.Running = false
	c.Exits = append(c.Exits, Exit{Code: exit.ExitCode, Signal: exit.Signal, Reason: exit.Reason})
	s.containers[name] = decoded(c)
}

func (s *state) object(e record.Event) {
	seen, ok := record.As[record.ObjectObserved](e)
	if !ok {
		return
	}
	s.landscape.saw(e, seen)
	if seen.Cluster != "" {
		s.keep(e, seen)
		return
	}
	if seen.Resource == "events" {
		s.event(seen.Name, seen.Object)
		return
	}
	object := s.keep(e, seen)
	if seen.Resource != "pods" {
		return
	}
	pod := PodName(seen.Namespace, seen.Name)
	if seen.Change == "deleted" {
		delete(s.pods, pod)
		return
	}
	s.known[pod] = true
	s.pods[pod] = object
}

// keep keeps an object as it is now, and all its versions.
func (s *state) keep(e record.Event, seen record.ObjectObserved) any {
	if seen.Change == "deleted" {
		delete(s.objects, e.Subject)
		return nil
	}
	object := decode(seen.Object)
	s.objects[e.Subject] = object
	s.history[e.Subject] = append(s.history[e.Subject], object)
	return object
}

// event keeps the events about a pod in the order of their first appearance; a
// repetition changes the one that is there.
func (s *state) event(name string, object []byte) {
	var event struct {
		PodEvent
		InvolvedObject struct{ Kind, Namespace, Name string }
	}
	about := &event.InvolvedObject
	if err := json.Unmarshal(object, &event); err != nil || about.Kind != "Pod" {
		return
	}
	pod := PodName(about.Namespace, about.Name)
	if at, known := s.eventAt[name]; known {
		s.events[pod][at] = decoded(event.PodEvent)
		return
	}
	s.eventAt[name] = len(s.events[pod])
	s.events[pod] = append(s.events[pod], decoded(event.PodEvent))
}

// scraped adds metrics to those of the same component that were read at other
// paths, or earlier.
func (s *state) scraped(e record.Event) {
	metrics, _ := s.metrics[e.Subject].(map[string]any)
	if metrics == nil {
		metrics = make(map[string]any)
	}
	scraped, _ := record.As[record.Scraped](e)
	for name, samples := range scraped.Metrics {
		metrics[name] = decoded(samples)
	}
	s.metrics[e.Subject] = metrics
}

// decode turns JSON into what expressions see: whole numbers are integers.
func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil // it was encoded by this program
	}
	return integers(v)
}

func integers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for key, value := range v {
			v[key] = integers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = integers(value)
		}
	}
	return v
}
