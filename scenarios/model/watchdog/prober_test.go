package watchdog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// stage is what a prober meets, and what was seen of it.
type stage struct {
	release        string
	config         Config
	link           Link
	expired, fresh int // leases
	resources      map[string]Resource
	settle         time.Duration // after which as many replicas are ready as there should be
	scaled         map[string]time.Time
	saw            []string
}

// play lets a prober do what is due in a time, and returns it.
func (s *stage) play(p Prober, until time.Duration) Prober {
	for !p.Due().After(noon.Add(until)) {
		p = s.step(p)
	}
	return p
}

func (s *stage) step(p Prober) Prober {
	now := p.Due()
	for name, at := range s.scaled {
		if r := s.resources[name]; !now.Before(at.Add(s.settle)) {
			r.Ready = r.Replicas
			s.resources[name] = r
		}
	}
	old := func(l Lease) Lease { return Lease{Renewed: l.Renewed.Add(now.Sub(noon))} }
	var all []Lease
	for _, l := range leases(s.expired, s.fresh, 0) {
		all = append(all, old(l))
	}
	p, did := p.Step(Seen{
		Answer:   func(c Call) Answer { return s.link[c] },
		Leases:   slices.Values(all),
		Resource: func(name string) Resource { return s.resources[name] },
		Random:   func() float64 { return 0.5 },
	})
	see := func(format string, args ...any) {
		s.saw = append(s.saw, fmt.Sprintf("%s ", now.Sub(noon))+fmt.Sprintf(format, args...))
	}
	if did.Probe != nil {
		see("probed %s", strings.TrimSpace(fmt.Sprintf("%s %s%s", did.Probe.Failed, did.Probe.Answer, did.Probe.Verdict.Do)))
	}
	if did.BacksOff {
		see("backs off")
	}
	for _, c := range did.Changes {
		s.resources[c.Dependent] = c.Change.To(s.resources[c.Dependent])
		if c.Change.Scale {
			s.scaled[c.Dependent] = now
			see("%s %s", c.Dependent, c.Change)
		}
	}
	if did.Err != nil {
		see("%s", strings.ReplaceAll(did.Err.Error(), "\n", ", "))
	}
	return p
}

func (s *stage) start() Prober {
	s.scaled = make(map[string]time.Time)
	return NewProber(BehaviorOf(s.release), s.config, noon)
}

func (s *stage) expect(t *testing.T, want ...string) {
	t.Helper()
	if got, want := strings.Join(s.saw, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("%s saw\n%s\nwant\n%s", s.release, got, want)
	}
}

// up are Deployments that run.
func up(names ...string) map[string]Resource {
	all := make(map[string]Resource)
	for _, n := range names {
		all[n] = Resource{Exists: true, Replicas: 1, Ready: 1}
	}
	return all
}

// Gardener's order: whoever replaces machines goes first and comes last.
func TestGardenersDependentsInTheirOrder(t *testing.T) {
	t.Parallel()
	const kcm, mcm, ca = ControllerManager, "machine-controller-manager", "cluster-autoscaler"
	s := stage{release: "v1.8.0", config: gardener(), resources: up(kcm, mcm, ca), expired: 2}
	p := s.play(s.start(), 60*time.Second)
	s.expired, s.fresh = 0, 2
	s.play(p, 190*time.Second)
	s.expect(t,
		"30s probed scale down",
		"30s "+mcm+" scale to 0", "30s "+ca+" scale to 0", "30s "+kcm+" scale to 0",
		"1m3s probed scale up",
		"1m3s "+kcm+" scale to 1", "1m33s "+mcm+" scale to 1", "1m33s "+ca+" scale to 1",
		"2m6s probed scale up",
		"3m9s probed scale up") // it waits for 30 s with each probe, also to find that there is nothing to do
}

func TestPlan(t *testing.T) {
	t.Parallel()
	names := func(op Operation) string {
		var words []string
		for _, level := range Plan(op, gardener().Dependents) {
			var on []string
			for _, d := range level {
				on = append(on, d.Name)
			}
			words = append(words, strings.Join(on, "+"))
		}
		return strings.Join(words, ", ")
	}
	if got, want := names(ScaleUp), "kube-controller-manager, machine-controller-manager, cluster-autoscaler"; got != want {
		t.Errorf("up: %s", got)
	}
	if got, want := names(ScaleDown), "machine-controller-manager+cluster-autoscaler, kube-controller-manager"; got != want {
		t.Errorf("down: %s", got)
	}
	if Plan(ScaleUp, nil) != nil {
		t.Error("there is a plan for nothing")
	}
}

// two are dependents of which the second waits for the first.
func two() Config {
	return Config{Dependents: []Dependent{{Name: "a", Up: Scaling{InitialDelay: 2 * time.Second}}, {Name: "b", Up: Scaling{Level: 1}}}}
}

// TestReplicasThatDoNotCome: releases up to v1.6 wait for them again and go no
// further; later ones find in the second attempt that there is nothing to do.
func TestReplicasThatDoNotCome(t *testing.T) {
	t.Parallel()
	for release, want := range map[string][]string{
		// 30 s + (2 + 5 + 0.1) s three times, where the last delay is left out.
		"v1.2.3": {"30s probed scale up", "32s a scale to 1", "51.3s scale up: a: its replicas were not there in time", "1m2.3s probed scale up"},
		"v1.8.0": {"30s probed scale up", "32s a scale to 1", "39.1s b scale to 1", "55.2s probed scale up"},
	} {
		s := stage{release: release, config: two(), settle: time.Hour, resources: map[string]Resource{"a": {Exists: true}, "b": {Exists: true}}, fresh: 2}
		s.play(s.start(), 65*time.Second)
		s.expect(t, want...)
	}
}

// TestReplicasAreWaitedFor: they are looked for at once and then every second,
// for less than five.
func TestReplicasAreWaitedFor(t *testing.T) {
	t.Parallel()
	for ready, want := range map[time.Duration]string{
		0:                       "30s b scale to 0",
		1:                       "31s b scale to 0",
		3 * time.Second:         "33s b scale to 0",
		4 * time.Second:         "34s b scale to 0",
		4*time.Second + 1:       "35.1s b scale to 0", // by the second attempt
		4500 * time.Millisecond: "35.1s b scale to 0",
	} {
		cfg := Config{Dependents: []Dependent{{Name: "a"}, {Name: "b", Down: Scaling{Level: 1}}}}
		s := stage{release: "v1.8.0", config: cfg, settle: ready, resources: up("a", "b"), expired: 2}
		s.play(s.start(), 40*time.Second)
		if !slices.Contains(s.saw, want) {
			t.Errorf("%s: %s, want %s", ready, s.saw, want)
		}
	}
}

// TestALevelThatFails ends the operation, when all of it is over.
func TestALevelThatFails(t *testing.T) {
	t.Parallel()
	cfg := Config{Dependents: []Dependent{{Name: "missing"}, {Name: "a"}, {Name: "optional", Optional: true}, {Name: "b", Down: Scaling{Level: 1}}}}
	s := stage{release: "v1.8.0", config: cfg, resources: up("a", "b"), expired: 2}
	s.play(s.start(), 42*time.Second)
	s.expect(t,
		"30s probed scale down", "30s a scale to 0",
		"30.3s scale down: missing: it is not there", "41.3s probed scale down", "41.6s scale down: missing: it is not there")
}

// TestCallsThatFail: the probe is over, and nothing is scaled. The next one comes
// after the interval, be it that the prober backs off or not.
func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	releases := []string{Text, "v1.2.3", "v1.8.0"}
	for _, tc := range []struct {
		call           Call
		made, backsOff []string // by which releases
	}{
		{ReadSecret, releases[1:], releases[2:]},
		{GetVersion, releases, releases},
		{Discover, releases[2:], releases[2:]},
		{ListNodes, releases[1:], releases[1:]},
		{ListMachines, releases[2:], releases[2:]},
		{ListLeases, releases, releases},
	} {
		for _, release := range releases {
			for answer, at := range map[Answer]time.Duration{Failed: 30 * time.Second, Throttled: 30 * time.Second, Lost: time.Minute} {
				want := fmt.Sprintf("%s probed %s %s", at, tc.call, answer)
				if !slices.Contains(tc.made, release) {
					at, want = 30*time.Second, "30s probed scale down"
				}
				if answer == Throttled && slices.Contains(tc.backsOff, release) {
					want += ", 30s backs off"
				}
				s := stage{release: release, expired: 2, link: Link{tc.call: answer}}
				p := s.play(s.start(), at)
				if got := strings.Join(s.saw, ", "); got != want {
					t.Errorf("%s: %q, want %q", release, got, want)
				}
				if got := p.Due().Sub(noon); got != at+11*time.Second {
					t.Errorf("%s, %s: the next probe is at %s", release, want, got)
				}
			}
		}
	}
}

// TestBackingOff makes a difference where probes come in quick succession.
func TestBackingOff(t *testing.T) {
	t.Parallel()
	cfg := Config{Interval: 2 * time.Second}
	s := stage{release: "v1.8.0", config: cfg, fresh: 2, link: Link{ListLeases: Throttled}}
	p := s.play(s.start(), 39*time.Second)
	s.link = Link{ListLeases: Failed}
	s.play(p, 43*time.Second)
	s.expect(t, "30s probed list leases throttled", "30s backs off", "40s probed list leases failed", "42.2s probed list leases failed")
}

// TestAProberIsAValue: what is done with it again comes to the same.
func TestAProberIsAValue(t *testing.T) {
	t.Parallel()
	begin := func() *stage {
		resources := up(ControllerManager)
		resources["machine-controller-manager"] = Resource{Exists: true}
		return &stage{release: "v1.2.3", config: gardener(), resources: resources, fresh: 2}
	}
	s := begin()
	p := s.play(s.start(), 40*time.Second) // amid the delay of one of the dependents
	run := func() []string {
		s := begin()
		s.start()
		s.play(p, 110*time.Second)
		return s.saw
	}
	if first, second := run(), run(); len(first) < 2 || !slices.Equal(first, second) {
		t.Errorf("%q and then %q", first, second)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	want := Config{Grace: 40 * time.Second, Fraction: 0.6, Interval: 10 * time.Second, Jitter: 0.2, InitialDelay: 30 * time.Second, Timeout: 30 * time.Second}
	if got := (Config{}).WithDefaults(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v", got)
	}
	other := Config{Grace: 1, Fraction: 2, Interval: 3, Jitter: 4, InitialDelay: 5, Timeout: 6}
	if got := other.WithDefaults(); fmt.Sprint(got) != fmt.Sprint(other) {
		t.Errorf("%+v", got)
	}
}

// gardener is the configuration that Gardener deploys
// (pkg/component/kubernetes/apiserver/dependency_watchdog.go, and for the interval
// pkg/component/nodemanagement/dependencywatchdog/access.go).
func gardener() Config {
	return Config{
		Interval: 30 * time.Second,
		Dependents: []Dependent{
			{Name: ControllerManager, Up: Scaling{Level: 0}, Down: Scaling{Level: 1}},
			{Name: "machine-controller-manager", Up: Scaling{Level: 1, InitialDelay: 30 * time.Second}, Down: Scaling{Level: 0}},
			{Name: "cluster-autoscaler", Optional: true, Up: Scaling{Level: 2}, Down: Scaling{Level: 0}},
		},
	}
}
