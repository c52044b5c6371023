package skewtest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

const (
	// mostMoments is how many moments a failed test shows, mostLines how many errors in
	// the log of a component, and mostText how many runes of each.
	mostMoments, mostLines, mostText = 30, 3, 200
)

// Follow has a test, if it fails, log what happened on the rig, and keeps the rig's files
// then. It is for the specs of a rig that BeforeSuite has started: Namespace, Start and
// Shared do so too.
func (r *Rig) Follow(t testing.TB) { r.follow(t, "") }

// follow tells a test, if it fails, what happened on the rig, and fails it if a component
// has died. If the namespace is unset, it is about all of them.
func (r *Rig) follow(t testing.TB, namespace string) {
	t.Cleanup(func() {
		ended := r.rig.Context()
		if ended.Err() != nil {
			t.Errorf("skewtest: the rig has ended: %v", context.Cause(ended))
		}
		if t.Failed() && r.tell(t.Name()) {
			t.Logf("skewtest: what happened%s\n%s", in(namespace), r.story(namespace))
		}
	})
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// tell reports whether a test that failed still has to report what happened. The files
// of the rig are kept for it.
func (r *Rig) tell(test string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	reported := r.reported[test]
	r.reported[test] = true
	return !reported
}

// story is what happened on the rig so far, in short, and where the rest is.
func (r *Rig) story(namespace string) string {
	narration := narrate.Of(narrate.Input{
		Result: reports.Cell{Outcome: reports.Fail}, Events: r.Events(), Logs: r.logs, Limit: 1 << 20,
	})
	return fmt.Sprintf("%s  files: %s (%s; %s/)\n", tell(narration, namespace), r.dir, reports.HistoryFile, reports.LogsDir)
}

// logs are those of the components.
func (r *Rig) logs() (all []narrate.LogFile) {
	for _, i := range r.rig.Instances() {
		path := filepath.Join(reports.LogsDir, strings.ReplaceAll(i.Name, "/", "-")+".log")
		if text, err := files.ReadBelow(r.dir, filepath.ToSlash(path), files.MaxLog); err == nil {
			all = append(all, narrate.LogFile{Component: i.Name, Path: path, Text: string(text)})
		}
	}
	return all
}

// moment is something that happened, as a line of text.
type moment struct {
	at   float64
	text string
}

// tell is a narration as text: what happened last, and the errors that components logged
// then. Of pods and the like, it is about those of a namespace, if that is set.
func tell(n narrate.Narration, namespace string) string {
	var moments []moment
	for _, lane := range n.Lanes {
		if namespace == "" || !isOfPods(lane) || isIn(lane.Name, namespace) {
			moments = append(moments, momentsOf(lane)...)
		}
	}
	moments = inTime(moments)
	var b strings.Builder
	if earlier := len(moments) - mostMoments; earlier > 0 {
		fmt.Fprintf(&b, "  (%d earlier moments are left out)\n", earlier)
		moments = moments[earlier:]
	}
	for _, m := range moments {
		fmt.Fprintf(&b, "  %6.1fs  %s\n", m.at, m.text)
	}
	for _, log := range n.Logs {
		lines := slices.DeleteFunc(slices.Clone(log.Lines), func(l narrate.Line) bool { return l.Tone != narrate.Bad })
		for _, l := range lines[max(0, len(lines)-mostLines):] {
			fmt.Fprintf(&b, "  %s: %s\n", log.Path, reports.Truncate(l.Text, mostText))
		}
	}
	return b.String()
}

// inTime sorts moments by time. Of two at the same time that say the same, one with more
// to say, there is one.
func inTime(moments []moment) (all []moment) {
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	now := 0 // the first one at the time of the last one
	for _, m := range moments {
		if len(all) > 0 && all[now].at != m.at {
			now = len(all)
		}
		same := slices.IndexFunc(all[now:], func(o moment) bool {
			return strings.HasPrefix(o.text, m.text) || strings.HasPrefix(m.text, o.text)
		})
		if same < 0 {
			all = append(all, m)
		} else if o := &all[now+same]; len(m.text) > len(o.text) {
			*o = m
		}
	}
	return all
}

// isOfPods reports whether a lane is about an object that has a namespace, or about a
// container.
func isOfPods(lane narrate.Lane) bool {
	switch lane.Kind {
	case narrate.Container, narrate.Probe:
		return true
	case narrate.ObjectState:
		return !strings.HasPrefix(lane.Name, "nodes/")
	default:
		return false
	}
}

// isIn reports whether a namespace is a part of the name of a lane.
func isIn(lane, namespace string) bool {
	return slices.Contains(strings.Split(lane, "/"), namespace)
}

// starting is the span before a component is ready, which the next one tells.
const starting = "starting"

// momentsOf is what happened in a lane. What went wrong comes with its details.
func momentsOf(lane narrate.Lane) (all []moment) {
	add := func(at float64, tone narrate.Tone, label, detail string) {
		text := lane.Name + ": " + label
		if first, _, _ := strings.Cut(detail, "\n"); (tone == narrate.Bad || tone == narrate.Warned) && first != "" {
			text += " (" + first + ")"
		}
		all = append(all, moment{at, text})
	}
	for _, s := range lane.Spans {
		if s.Label != starting {
			add(s.From, s.Tone, s.Label, s.Detail)
		}
	}
	for _, m := range lane.Marks {
		add(m.At, m.Tone, m.Label, m.Detail)
	}
	return all
}
