package nodelife

import (
	"testing"
	"time"
)

var noon = time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)

func at(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }

// rig is a controller that looks at one node every five seconds.
type rig struct {
	cfg    Config
	memory Memory
	node   Node
	now    float64
}

func newRig(trusting bool) *rig {
	r := &rig{cfg: Config{Trusting: trusting}.WithDefaults()}
	r.node = Node{Created: at(-1000), Ready: True, Heartbeat: at(0)}
	r.renew(0)
	return r
}

// renew renews the lease, at a time by the node's clock.
func (r *rig) renew(s float64) { r.node.Lease = Lease{r.node.Lease.Version + 1, at(s)} }

// report reports the status, at a time by the node's clock.
func (r *rig) report(s float64) { r.node.Ready, r.node.Heartbeat = True, at(s) }

// look looks once.
func (r *rig) look() Verdict {
	var v Verdict
	r.memory, v = r.cfg.Look(r.memory, r.node, at(r.now))
	if v == CallUnknown {
		if r.node.Ready == None {
			r.node.Heartbeat = r.node.Created
		}
		r.node.Ready = Unknown
	}
	return v
}

// until lets time pass, with a look every five seconds, and returns when the
// first look came to something else than to leave the node alone.
func (r *rig) until(s float64) (when float64, v Verdict) {
	for ; r.now <= s; r.now += 5 {
		if got := r.look(); v == "" && got != Leave {
			when, v = r.now, got
		}
	}
	return when, v
}

func (r *rig) expect(t *testing.T, until, when float64, want Verdict) {
	t.Helper()
	if gotWhen, got := r.until(until); got != want || gotWhen != when {
		t.Errorf("%q at %g s, want %q at %g s", got, gotWhen, want, when)
	}
}

func TestTheGracePeriodIsOverWhenItHasPassed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		age  time.Duration
		want Verdict
	}{
		{50*time.Second - 1, Leave},
		{50 * time.Second, Leave},
		{50*time.Second + 1, CallUnknown},
	} {
		r := newRig(false)
		r.look()
		if _, v := r.cfg.Look(r.memory, r.node, noon.Add(tc.age)); v != tc.want {
			t.Errorf("%s after the renewal: %s, want %s", tc.age, v, tc.want)
		}
	}
}

// TestSilence counts from the look that saw a change, not from the change.
func TestSilence(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.until(5)
	r.renew(6) // seen at 10
	r.expect(t, 100, 65, CallUnknown)
	r.expect(t, 200, 0, "") // it is Unknown already
}

func TestAnyClockIsAsGoodAsAnother(t *testing.T) {
	t.Parallel()
	for _, offset := range []float64{-3600, -60, 60, 3600} {
		r := newRig(false)
		r.renew(offset)
		for r.now < 300 {
			r.expect(t, r.now+5, 0, "")
			r.renew(r.now + offset)
		}
	}
}

// TestAClockThatIsSetBack by two minutes, while the node renews its lease each
// ten seconds (kubernetes#113081).
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	const back = 120
	run := func(trusting bool, until float64) (r *rig, when float64, v Verdict) {
		r = newRig(trusting)
		r.until(0)
		for r.now < until && v == "" {
			r.renew(r.now - back)
			when, v = r.until(r.now + 5)
		}
		return r, when, v
	}
	r, when, v := run(true, 300)
	if when != 55 || v != CallUnknown {
		t.Errorf("a trusting controller: %s at %g s", v, when)
	}
	// It takes the lease as it is from then on: the next renewal is a change.
	r.renew(r.now - back)
	r.report(r.now - back)
	from := r.now
	r.expect(t, from+100, from+55, CallUnknown)

	r, when, v = run(false, 300)
	if when != 55 || v != Doubt {
		t.Errorf("one that isn't: %s at %g s", v, when)
	}
	// Even though the node has died, it is never called Unknown.
	for range 1000 {
		r.now += 5
		if got := r.look(); got != Doubt {
			t.Fatalf("%s at %g s", got, r.now)
		}
	}
	// Unless the controller starts anew.
	r.memory = Memory{}
	r.now += 5
	from = r.now
	r.expect(t, from+60, from+55, CallUnknown)
}

// TestAStatusMakesItForgetTheLease, so that a lease by a clock that is behind is
// a change again.
func TestAStatusMakesItForgetTheLease(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.until(0)
	r.renew(-120)
	r.until(20)
	r.report(-100)                    // seen at 25: a change, and no lease is known
	r.expect(t, 100, 85, CallUnknown) // as the lease is known from 30 on
}

func TestALeaseThatIsNotLater(t *testing.T) {
	t.Parallel()
	r := newRig(true)
	r.until(5)
	r.renew(0) // written again, by a clock that stands still
	r.expect(t, 100, 55, CallUnknown)
}

func TestANodeThatHasNoLease(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.node.Lease = Lease{}
	r.until(20)
	r.report(20)
	r.expect(t, 100, 80, CallUnknown)
}

func TestALeaseThatIsDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.until(5)
	r.node.Lease = Lease{}
	r.expect(t, 100, 55, CallUnknown)
}

// TestANodeWithoutStatus has the startup grace period, which counts from when it
// was made.
func TestANodeWithoutStatus(t *testing.T) {
	t.Parallel()
	begin := func() *rig {
		r := newRig(false)
		r.node = Node{Created: at(-3)}
		return r
	}
	r := begin()
	r.expect(t, 60, 60, CallUnknown) // 60 s after -3 s is at 57 s
	before := r.memory
	if r.look(); r.memory != before {
		t.Errorf("its own verdict is news: %+v, and then %+v", before, r.memory)
	}

	r = begin()
	r.until(30)
	r.report(30) // seen at 35: from now on it has the other grace period
	r.expect(t, 200, 90, CallUnknown)

	r = begin()
	for r.now < 300 { // it may live by its lease alone
		r.renew(r.now)
		r.expect(t, r.now+5, 0, "")
	}
	from := r.now
	r.expect(t, from+100, from+55, CallUnknown) // last seen 10 s ago
}

// TestAStatusThatIsTakenAway is none from then on, and what was seen last counts.
func TestAStatusThatIsTakenAway(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.until(5)
	r.node.Ready, r.node.Heartbeat = None, time.Time{}
	r.expect(t, 200, 65, CallUnknown)
}

// TestANodeThatComesBack is seen at once, and has all the time again.
func TestANodeThatComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.expect(t, 90, 55, CallUnknown)
	r.renew(91)
	r.report(92)
	r.expect(t, 200, 150, CallUnknown) // seen at 95
}

func TestAMemoryIsAValue(t *testing.T) {
	t.Parallel()
	r := newRig(false)
	r.until(20)
	first, v := r.cfg.Look(r.memory, r.node, at(300))
	second, w := r.cfg.Look(r.memory, r.node, at(300))
	if first != second || v != w || v != CallUnknown {
		t.Errorf("%+v and %+v", first, second)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	if got := (Config{}).WithDefaults(); got != (Config{Period: 5 * time.Second, Grace: 50 * time.Second, Startup: time.Minute}) {
		t.Errorf("%+v", got)
	}
	other := Config{Period: 1, Grace: 2, Startup: 3, Trusting: true}
	if got := other.WithDefaults(); got != other {
		t.Errorf("%+v", got)
	}
}

func BenchmarkLook(b *testing.B) {
	r := newRig(false)
	n := 0
	for b.Loop() {
		r.memory, _ = r.cfg.Look(r.memory, r.node, noon)
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "looks/s")
}
