package check

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// lost returns why a verdict does not count where events that the check needs may be missing from the record
// (record.ObservationLost). It is empty if it counts: nothing was lost that the check needs until it was decided, or
// what decided it was seen, and nothing that was missed can change that.
//
//   - now: unknown, whatever the verdict.
//   - eventually and atLeast: a check that failed is unknown, since what it waited for may have been missed. One that
//     passed counts, unless it passed by absence or a count, or at once by what was known before the loss.
//   - always, never and atMost: a check that passed is unknown, since the violation may have been missed. One that failed
//     counts, unless it failed by absence or a count.
//
// A loss that was over before the check began matters to what adds up from the beginning of the cell: all but the state of
// objects, leases and the answers to steps, which is up to date then. To atLeast and atMost, which count from when
// the check begins, it does not matter.
func (c *compiled) lost(w *watchedCheck, outcome reports.Outcome, t *timeline.Timeline) string {
	if w == nil || len(t.Losses) == 0 || outcome != reports.Pass && outcome != reports.Fail {
		return ""
	}
	needs, adds := c.needs()
	opened, from := w.in.From.Time, time.Time{}
	if !adds || c.grows() {
		from = opened
	}
	losses := t.Lost(needs, from, w.until)
	if len(losses) == 0 {
		return ""
	}
	inLoss := slices.ContainsFunc(losses, func(l *timeline.Loss) bool { return l.Covers(opened) })
	stale := inLoss && (c.grows() || !w.until.After(opened)) // what the check begins with may be out of date
	final := c.Mode != record.Now && (outcome == reports.Pass) == c.Mode.Awaits()
	if final && !w.last.absent && !stale && c.isProof(outcome) {
		return ""
	}
	return t.DescribeLoss(losses[0]) + "; the check needs them"
}

// grows reports whether a check counts from when it begins.
func (c *compiled) grows() bool { return c.Mode == record.AtLeast || c.Mode == record.AtMost }

// source is the events that a variable is made of.
type source struct {
	needs func(key string) []timeline.Need // key is empty for all that the variable has
	// adds is true if it has what happened since the beginning of the cell, and not only how something is now.
	adds bool
}

// sources are those of all variables.
var sources = map[string]source{
	"containers": {adds: true, needs: about(ofContainer, record.SandboxStarted{}, record.ContainerStarted{}, record.ContainerExited{}, record.Exec{}, record.ProcessRan{})},
	"connections": {adds: true, needs: func(key string) []timeline.Need {
		// One that ends with its kubelet is not counted.
		return append(about(ofContainer, record.SandboxStarted{}, record.Connection{})(key), timeline.NeedsOf("kubelet", record.ComponentStopped{})...)
	}},
	"pods":    {needs: about(ofPod, record.ObjectObserved{})},
	"events":  {adds: true, needs: about(always("events"), record.ObjectObserved{})},
	"objects": {needs: about(asItIs, record.ObjectObserved{})},
	"history": {adds: true, needs: about(asItIs, record.ObjectObserved{})},
	"nodes": {adds: true, needs: func(key string) []timeline.Need {
		return append(timeline.NeedsOf(strings.TrimSuffix("nodes/"+key, "/"), record.ObjectObserved{}), timeline.NeedsOf("events", record.ObjectObserved{})...)
	}},
	"components":  {adds: true, needs: about(asItIs, record.ComponentStarted{}, record.ComponentStopped{})},
	"leases":      {needs: about(always(""), record.LeaseAges{})},
	"dependents":  {adds: true, needs: about(always("seed/deployments"), record.ObjectObserved{})},
	"calls":       {adds: true, needs: about(asItIs, record.LinkRequest{})},
	"webhooks":    {adds: true, needs: about(asItIs, record.WebhookCalled{})},
	"conversions": {adds: true, needs: about(asItIs, record.ConversionCalled{})},
	"requests":    {needs: about(asItIs, record.APIAnswer{})},
	"metrics":     {needs: about(asItIs, record.Scraped{})},
	"scrapes":     {needs: about(always(""), record.Scraped{})},
	"kubectl":     {needs: about(asItIs, record.KubectlRan{})},
	"logs":        {needs: about(asItIs, record.LogRead{})},
	"stored":      {needs: about(asItIs, record.StoredRead{})},
	"sockets":     {needs: about(asItIs, record.SocketsRead{})},
	"podsAPI":     {adds: true, needs: about(asItIs, record.PodsAnswer{}, record.PodsEvent{}, record.PodsEnded{})},
	"watches":     {adds: true, needs: about(asItIs, record.PodsEvent{}, record.PodsEnded{})},
	"polls":       {adds: true, needs: about(asItIs, record.PodsPolled{}, record.PodsEnded{})},
}

// about is the needs for events of payloads about the subject that a key stands for.
func about(subject func(key string) string, payloads ...record.Payload) func(key string) []timeline.Need {
	return func(key string) []timeline.Need { return timeline.NeedsOf(subject(key), payloads...) }
}

func asItIs(key string) string { return key }

func always(subject string) func(string) string { return func(string) string { return subject } }

// ofContainer is the subject of a container's events, by the name that expressions have for it.
func ofContainer(key string) string {
	if strings.Count(key, "/") == 1 {
		return "default/" + key
	}
	return key
}

// ofPod is the subject of a pod's states, by the name that expressions have for it.
func ofPod(key string) string {
	if key == "" {
		return "pods"
	}
	return reports.PodKey(key)
}

// needs are the events that decide a check, and whether some of them add up from the beginning of the cell.
func (c *compiled) needs() (needs []timeline.Need, adds bool) {
	read := func(text string) {
		e, is := parse(text)
		if !is {
			return
		}
		for name, keys := range keysOf(e) {
			of := sources[name]
			adds = adds || of.adds
			for _, key := range keys {
				needs = append(needs, of.needs(key)...)
			}
		}
	}
	read(c.Observe)
	read(c.Must)
	return needs, adds
}

// keysOf are the variables that an expression reads, each with the keys at which it does, or with the empty key if it
// reads all of one.
func keysOf(e ast.Expr) map[string][]string {
	found, keyed := make(map[string][]string), make(map[int64]bool)
	at := func(of, key ast.Expr) {
		if text, is := textOf(key); is && of.Kind() == ast.IdentKind {
			keyed[of.ID()] = true
			found[of.AsIdent()] = append(found[of.AsIdent()], text)
		}
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			if _, is := sources[e.AsIdent()]; is && !keyed[e.ID()] {
				found[e.AsIdent()] = append(found[e.AsIdent()], "")
			}
		case ast.SelectKind:
			if of := e.AsSelect().Operand(); of.Kind() == ast.IdentKind {
				keyed[of.ID()] = true
				found[of.AsIdent()] = append(found[of.AsIdent()], e.AsSelect().FieldName())
			}
		case ast.CallKind:
			switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
			case operators.Index, operators.OptIndex, operators.OptSelect:
				at(args[0], args[1])
			case operators.In:
				at(args[1], args[0])
			}
		}
	}))
	maps.DeleteFunc(found, func(name string, _ []string) bool { return sources[name].needs == nil }) // what a macro names
	return found
}
