package script

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/harness/spelling"
)

const (
	// maxPods is how many pods a node may have, which is far more than any has.
	maxPods = 10000
	// maxMoves bounds the memory that a plan takes.
	maxMoves = 100000
)

// Plan returns what happens when, if the life of the node begins at a time. What makes
// no sense, such as a change of a pod that isn't there, is reported at once, as
// *strict.Errors.
func (s *Script) Plan(began time.Time) ([]Move, error) {
	p := planner{began: began.Truncate(time.Second), lives: make(map[string]*life), births: make(map[string]int)}
	template, err := manifest(s.file.Template)
	if err != nil {
		s.document.Note("template", "the template: %v", err)
		return nil, s.document.Err()
	}
	p.template = template
	for i, step := range s.file.Steps {
		if err := p.step(step); err != nil {
			s.document.Note(stepPath(i), "%v", err)
		}
	}
	if err := s.document.Err(); err != nil {
		return nil, err
	}
	if n := len(p.moves); n > 0 && p.moves[n-1].At < p.at {
		p.move("the end", nil)
	}
	return p.moves, nil
}

// planner is a plan in the making, and the node as it is by then.
type planner struct {
	began    time.Time
	template *corev1.Pod

	at     time.Duration
	lives  map[string]*life
	order  []string // of the pods, as they were added
	births map[string]int
	total  int // of all pods that there ever were
	// disturbance is what is wrong by now.
	disturbance Disturb
	moves       []Move
}

// now is the time of the next move.
func (p *planner) now() time.Time { return p.began.Add(p.at) }

func (p *planner) move(text string, action Action) {
	p.moves = append(p.moves, Move{At: p.at, Text: text, Action: action})
}

func (p *planner) step(s step) error {
	switch {
	case s.Ready != nil:
		p.move(map[bool]string{true: "the node is ready", false: "the node is not ready"}[*s.Ready], SetReady{*s.Ready})
	case s.Add != nil:
		return p.add(*s.Add)
	case s.Change != nil:
		return p.change(*s.Change)
	case s.Remove != nil:
		return p.remove(s.Remove.Name)
	case s.Churn != nil:
		return p.churn(*s.Churn)
	case s.Disturb != nil:
		return p.disturb(*s.Disturb)
	case s.Restart != nil:
		p.restart(*s.Restart)
	case s.Wait != nil:
		p.at += time.Duration(*s.Wait)
	}
	return nil
}

// find returns a pod by what the script calls it.
func (p *planner) find(name string) (*life, error) {
	if name == "" {
		return nil, fmt.Errorf("name is missing: it says which pod")
	}
	if l := p.lives[key(name)]; l != nil {
		return l, nil
	}
	var names []string
	for _, key := range p.order {
		names = append(names, p.lives[key].name())
	}
	if near := spelling.Closest(name, names); len(near) > 0 {
		return nil, fmt.Errorf("no pod %q exists at that time: did you mean %s?", name, near[0])
	}
	return nil, fmt.Errorf("no pod %q exists at that time, among %d", name, len(names))
}

func (p *planner) change(c change) error {
	l, err := p.find(c.Name)
	if err != nil {
		return err
	}
	next, words := *l, []string{}
	next.changed = p.now()
	if c.Phase != "" {
		next.phase, next.ready, next.own = c.Phase, c.Phase == corev1.PodRunning, false
		words = append(words, "phase "+string(c.Phase))
	}
	if c.Ready != nil {
		next.ready, next.own = *c.Ready, false
		words = append(words, map[bool]string{true: "ready", false: "not ready"}[next.ready])
	}
	if c.Restarts != nil {
		next.restarts, next.own = *c.Restarts, false
		words = append(words, fmt.Sprintf("restarts %d", next.restarts))
	}
	if len(c.Labels) > 0 {
		next.label(c.Labels)
		words = append(words, "labels")
	}
	if len(words) == 0 {
		return fmt.Errorf("nothing changes: give phase, ready, restarts or labels")
	}
	if err := next.checkState(); err != nil {
		return err
	}
	*l = next
	p.move("change "+l.name()+": "+strings.Join(words, ", "), Set{[]*corev1.Pod{l.shown()}})
	return nil
}

func (p *planner) remove(name string) error {
	l, err := p.find(name)
	if err != nil {
		return err
	}
	delete(p.lives, l.key())
	p.order = slices.DeleteFunc(p.order, func(key string) bool { return key == l.key() })
	p.move("remove "+l.name(), Remove{UIDs: []types.UID{l.pod.UID}})
	return nil
}

func (p *planner) disturb(d disturb) error {
	if d.BreakAfter < 0 {
		return fmt.Errorf("breakAfter is %d: it is the number of events before a watch ends", d.BreakAfter)
	}
	p.disturbance = Disturb{Delay: time.Duration(d.Delay), BreakAfter: d.BreakAfter}
	p.move(p.disturbance.text(), p.disturbance)
	return nil
}

// text says what is wrong.
func (d Disturb) text() string {
	var words []string
	if d.Delay > 0 {
		words = append(words, fmt.Sprintf("answers and events are held back for %s", d.Delay))
	}
	if d.BreakAfter > 0 {
		words = append(words, fmt.Sprintf("watches break after %d events", d.BreakAfter))
	}
	if len(words) == 0 {
		return "nothing is disturbed any more"
	}
	return strings.Join(words, ", ")
}

func (p *planner) restart(r restart) {
	p.move("the kubelet stops", Stop{})
	p.at += time.Duration(r.Down)
	p.move("the kubelet starts, and doesn't know its pods", Start{p.all()})
	if p.disturbance != (Disturb{}) {
		p.move("", p.disturbance) // what is wrong with the node is so after a restart, too
	}
	p.at += time.Duration(r.Initializing)
	p.move("the node is ready", SetReady{true})
}

// all are the pods that there are.
func (p *planner) all() []*corev1.Pod {
	pods := make([]*corev1.Pod, len(p.order))
	for i, key := range p.order {
		pods[i] = p.lives[key].shown()
	}
	return pods
}
