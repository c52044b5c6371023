package script

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/podsapi/server"
	"github.com/skewrig/skewrig/record"
)

// TestWhatAClientOfAThousandPodsMissed: what is said of a live client is what it
// really has not received. How much that is doesn't depend on the speed of either side: events
// are held back for longer than a test takes, or there is no watch, or the test waits
// for what it receives.
func TestWhatAClientOfAThousandPodsMissed(t *testing.T) {
	t.Parallel()
	n, c := started(t)
	l := &live{T: t, node: n, rest: planned(t, `
- add: {name: web, count: 1000}
- ready: true
- disturb: {delay: 24h}
- churn: {rate: 2000, for: 1s, seed: 1}
- remove: {name: web-0}
- disturb: {}
- disturb: {breakAfter: 1000}
- churn: {rate: 300, for: 1s, seed: 2}
- remove: {name: web-2}
- disturb: {}
- restart: {down: 1s, initializing: 1s}
- add: {name: late}
- remove: {name: web-1}
- wait: 1s
`)}

	l.playTo("2000 changes a second")
	w := l.watch(c)
	l.until("a watch is open", func(c Client) bool { return c.Watching == 1 })
	l.playTo("nothing is disturbed")
	// Each change took the place of a state that was due, and so did the end of web-0.
	l.missed("held back", 2001, 999)

	l.playTo("watches break after 1000 events")
	l.until("the client has the initial pods", func(c Client) bool { return c.Events == 1000 })
	l.missed("caught up", 2001, 0)
	l.playTo("300 changes a second")
	w.ends(codes.Unavailable)
	l.until("the watch is over", func(c Client) bool { return c.Watching == 0 && len(c.Calls) == 1 })
	l.playTo("nothing is disturbed")
	unknown := w.unknown(dialled(t, n))
	l.missed("away", 2001, len(unknown))
	if names := l.behind(); !slices.Equal(names, unknown) || !slices.Contains(names, "default/web-2") {
		t.Errorf("behind on %q, want %q", names, unknown)
	}

	l.playTo("the node is ready")
	c = dialled(t, n)
	l.watch(c).ends(codes.FailedPrecondition)
	l.playTo("add late")
	w = l.watch(c)
	l.until("the client has the initial pods again", func(c Client) bool { return c.Events == 999 })
	l.playTo("the end")
	l.until("the client has what came and went", func(c Client) bool { return c.Events == 1001 })
	l.missed("in the end", 0, 0)
	w.until("it knows all", func() bool { return len(w.unknown(c)) == 0 })
	if calls := l.client().Calls; !slices.Contains(calls, server.Calls{Method: "WatchPods", Code: "FailedPrecondition", Count: 1}) {
		t.Errorf("after the restart it called %v", calls)
	}
	if first := n.Runs()[0].Clients[0]; len(first.Behind) != len(unknown) || first.Events != 1000 {
		t.Errorf("the first run shows %d events and %d pods", first.Events, len(first.Behind))
	}
}

// live is the play of a node's life to a client, the first of each run.
type live struct {
	*testing.T
	node *Node
	rest []Move
}

// playTo runs up to the next move that is printed with a text.
func (l *live) playTo(text string) {
	l.Helper()
	i := slices.IndexFunc(l.rest, func(m Move) bool { return strings.HasPrefix(m.Text, text) })
	if i < 0 {
		l.Fatalf("there is no move %q left", text)
	}
	if err := l.node.Play(l.Context(), l.rest[:i], atOnce, func(Move) {}); err != nil {
		l.Fatal(err)
	}
	l.rest = l.rest[i:]
}

// client is the client, as the node shows it now.
func (l *live) client() (c Client) {
	runs := l.node.Runs()
	if clients := runs[len(runs)-1].Clients; len(clients) > 0 {
		return clients[0]
	}
	return c
}

func (l *live) behind() (names []string) {
	for _, p := range l.client().Behind {
		names = append(names, p.Name)
	}
	return names
}

// missed checks what the client is said to have missed, and to be behind on.
func (l *live) missed(when string, missed int64, behind int) {
	l.Helper()
	if c := l.client(); c.Missed != missed || len(c.Behind) != behind {
		l.Errorf("%s: missed %d and behind on %d, want %d and %d", when, c.Missed, len(c.Behind), missed, behind)
	}
}

func (l *live) until(what string, is func(Client) bool) {
	l.Helper()
	until(l.T, what, func() bool { return is(l.client()) })
}

// until waits for what is sure to come.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker, late := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer ticker.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// watched is what a client knows by a watch.
type watched struct {
	*testing.T
	mu   sync.Mutex
	pods map[string][]byte // by name
	over chan error
}

func (l *live) watch(c *client.Client) *watched {
	w := &watched{T: l.T, pods: make(map[string][]byte), over: make(chan error, 1)}
	go func() { w.over <- c.RawWatch(l.Context(), "", w.receive) }()
	return w
}

func (w *watched) receive(kind string, wire []byte) error {
	if kind == record.PodsSynced {
		return nil
	}
	name, err := nameOf(wire)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods[name] = wire; kind == record.PodDeleted {
		delete(w.pods, name)
	}
	return err
}

func nameOf(wire []byte) (string, error) {
	var p corev1.Pod
	err := p.Unmarshal(wire)
	return p.Namespace + "/" + p.Name, err
}

func (w *watched) until(what string, is func() bool) { until(w.T, what, is) }

// ends waits for the end of the watch.
func (w *watched) ends(want codes.Code) {
	w.Helper()
	if err := <-w.over; status.Code(err) != want {
		w.Fatalf("the watch ended with %v, want %s", err, want)
	}
}

// unknown are the pods whose last state, or whose end, the watch didn't tell, in
// order, by the list that a client is given.
func (w *watched) unknown(c *client.Client) []string {
	w.Helper()
	list, err := c.Raw(w.Context(), client.Request{Method: client.ListPods})
	if err != nil {
		w.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	unknown := make(map[string]bool)
	for name := range w.pods {
		unknown[name] = true // unless the list has it as it is known
	}
	for _, wire := range list {
		name, err := nameOf(wire)
		if err != nil {
			w.Fatal(err)
		}
		if unknown[name] = true; bytes.Equal(w.pods[name], wire) {
			delete(unknown, name)
		}
	}
	return slices.Sorted(maps.Keys(unknown))
}
