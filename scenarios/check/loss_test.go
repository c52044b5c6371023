package check

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
)

// TestALossInEachMode: what was missed may have decided the check the other way, unless what decided it was seen.
// Without the loss, each verdict is that of want.
func TestALossInEachMode(t *testing.T) {
	t.Parallel()
	const opens, closes = "opens", "closes"
	check := func(mode record.Mode, observe string, edit func(*action.Check)) action.Check {
		c := action.Check{ID: "c", Observe: observe, Mode: mode, Is: true}
		if mode != record.Now {
			c.Span = behavior.Duration(time.Second)
		}
		if edit != nil {
			edit(&c)
		}
		return c
	}
	must := func(text string) func(*action.Check) {
		return func(c *action.Check) { c.Is, c.Must = nil, text }
	}
	times := func(n int) func(*action.Check) { return func(c *action.Check) { c.Is, c.Times = nil, n } }
	const starts, phase = `containers["tls/app"].starts`, `pods["tls"].status.phase == "Running"`
	pod := func(phase string) func(*record.History) {
		return func(h *record.History) {
			h.Append("watch", "pods/default/tls", record.ObjectObserved{Change: "added", Resource: "pods", Namespace: "default", Name: "tls", Object: []byte(`{"status":{"phase":"` + phase + `"}}`)})
		}
	}
	nothing := func(*record.History) {}
	for name, c := range map[string]struct {
		check    action.Check
		before   func(*record.History) // the check is opened
		loss     string                // lasts: until the end; opens: over when the check is opened; closes: begins after it
		of       []record.Payload
		during   func(*record.History) // the loss, if it lasts
		want     reports.Outcome
		survives bool
	}{
		"now":                                    {check: check(record.Now, starts+" >= 1", nil), before: started, want: reports.Pass},
		"now, failed":                            {check: check(record.Now, starts+" >= 2", nil), before: started, want: reports.Fail},
		"now, before the loss":                   {check: check(record.Now, starts+" >= 1", nil), before: started, loss: closes, want: reports.Pass, survives: true},
		"eventually, seen":                       {check: check(record.Eventually, starts, must("it >= 2")), before: started, during: started, want: reports.Pass, survives: true},
		"eventually, by an exact count":          {check: check(record.Eventually, starts, must("it == 2")), before: started, during: started, want: reports.Pass},
		"eventually, in vain":                    {check: check(record.Eventually, starts+" >= 2", nil), before: started, want: reports.Fail},
		"eventually, by absence":                 {check: check(record.Eventually, `!("tls/app" in containers)`, nil), before: nothing, want: reports.Pass},
		"always":                                 {check: check(record.Always, starts+" == 1", nil), before: started, want: reports.Pass},
		"always, before the loss":                {check: check(record.Always, starts+" == 1", nil), before: started, loss: closes, want: reports.Pass, survives: true},
		"always, after a loss of what adds up":   {check: check(record.Always, starts+" == 1", nil), before: started, loss: opens, want: reports.Pass},
		"always, broken by what was seen":        {check: check(record.Always, starts+" <= 1", nil), before: started, during: started, want: reports.Fail, survives: true},
		"always, broken by an exact count":       {check: check(record.Always, starts+" == 1", nil), before: started, during: started, want: reports.Fail},
		"always, broken by absence":              {check: check(record.Always, starts+" >= 1", nil), before: nothing, want: reports.Fail},
		"never":                                  {check: check(record.Never, starts+" >= 2", nil), before: started, want: reports.Pass},
		"never, and it was seen":                 {check: check(record.Never, starts+" >= 2", nil), before: started, during: started, want: reports.Fail, survives: true},
		"never, and it is absent":                {check: check(record.Never, `!("tls/app" in containers)`, nil), before: nothing, want: reports.Fail},
		"at most":                                {check: check(record.AtMost, starts, times(1)), before: started, want: reports.Pass},
		"at most, after a loss":                  {check: check(record.AtMost, starts, times(1)), before: started, loss: opens, want: reports.Pass, survives: true},
		"at most, and there were more":           {check: check(record.AtMost, starts, times(0)), before: started, loss: closes, during: started, want: reports.Fail, survives: true},
		"at most, from an unknown beginning":     {check: check(record.AtMost, starts, times(0)), before: started, during: started, want: reports.Fail},
		"at least":                               {check: check(record.AtLeast, starts, times(1)), before: started, during: started, loss: closes, want: reports.Pass, survives: true},
		"at least, in vain":                      {check: check(record.AtLeast, starts, times(1)), before: started, want: reports.Fail},
		"an object that was seen":                {check: check(record.Eventually, phase, nil), before: pod("Pending"), of: []record.Payload{record.ObjectObserved{}}, during: pod("Running"), want: reports.Pass, survives: true},
		"an object as it was before the loss":    {check: check(record.Eventually, phase, nil), before: pod("Running"), of: []record.Payload{record.ObjectObserved{}}, want: reports.Pass},
		"an object as it is after the loss":      {check: check(record.Always, phase, nil), before: pod("Running"), loss: opens, of: []record.Payload{record.ObjectObserved{}}, want: reports.Pass, survives: true},
		"the history of an object after a loss":  {check: check(record.Always, `history["pods/default/tls"].size() == 1`, nil), before: pod("Running"), loss: opens, of: []record.Payload{record.ObjectObserved{}}, want: reports.Pass},
		"an object that is always so":            {check: check(record.Always, phase, nil), before: pod("Running"), of: []record.Payload{record.ObjectObserved{}}, want: reports.Pass},
		"an object that is seen not to be so":    {check: check(record.Always, phase, nil), before: pod("Running"), of: []record.Payload{record.ObjectObserved{}}, during: pod("Failed"), want: reports.Fail, survives: true},
		"events of another kind":                 {check: check(record.Always, starts+" == 1", nil), before: started, of: []record.Payload{record.Connection{}}, want: reports.Pass, survives: true},
		"another object":                         {check: check(record.Always, phase, nil), before: pod("Running"), want: reports.Pass, survives: true},
		"a connection that a filter leaves out":  {check: check(record.Never, `connections["tls/app"].filter(c, c.port == 80).size() > 0`, nil), before: started, of: []record.Payload{record.Connection{}}, want: reports.Pass},
		"all containers, and one of them counts": {check: check(record.Never, `containers.exists(name, containers[name].starts > 1)`, nil), before: started, during: started, want: reports.Fail, survives: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge := func(lossy bool) reports.Check {
				lose := func(bool) {}
				events := story(func(h *record.History) {
					if lossy {
						of := c.of
						if of == nil {
							of = []record.Payload{record.ContainerStarted{}}
						}
						subject := "default/tls/app"
						if _, is := of[0].(record.ObjectObserved); is {
							subject = "pods"
						}
						lose = func(over bool) {
							loss := record.Losing(time.Now(), errors.New("a watch broke"), of...)
							if over {
								loss = loss.Over()
							}
							h.Append("test", subject, loss)
						}
					}
					c.before(h)
					if c.loss != closes {
						lose(c.loss == opens)
					}
					pause(h)
					opened(h, "c")
					pause(h)
					if c.during != nil {
						c.during(h)
					}
					closed(h, "c", time.Second)
					pause(h)
					if c.loss == closes {
						lose(false)
					}
				})
				return Judge(t.Context(), cellWith(t, c.check), events).Checks[0]
			}
			if got := judge(false); got.Outcome != c.want {
				t.Fatalf("without a loss: %+v", got)
			}
			want := reports.Unknown
			if c.survives {
				want = c.want
			}
			got := judge(true)
			if got.Outcome != want {
				t.Errorf("with a loss: %+v, want %s", got, want)
			}
			if says := strings.Contains(got.Reason, "may be missing from the record") && strings.Contains(got.Reason, "a watch broke"); says != (want == reports.Unknown) {
				t.Errorf("it says %q", got.Reason)
			}
		})
	}
}

// pause lets a millisecond pass between what is recorded, so that no two events are of the same time.
func pause(h *record.History) {
	h.AppendAt(time.Now().Add(time.Millisecond), "engine", "", record.RigReused{})
}
