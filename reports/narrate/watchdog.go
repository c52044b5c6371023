package narrate

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// This file and watchdogcause.go are all that narrations have of Gardener's dependency-watchdog: the first what it did,
// the second what checks about it saw.

// The watchdog, and its links to the API servers of the shoot and of the seed.
const (
	watchdogName = "dependency-watchdog"
	toShoot      = watchdogName + "->kube-apiserver"
	toSeed       = watchdogName + "->seed/kube-apiserver"
	// dependentsOf begins the names of the Deployments that it scales.
	dependentsOf = "seed/deployments/"
	// expiredRow has which part of the leases in each list was expired.
	expiredRow = "expired, % of the list"
	// readRow has the ages of leases as the watchdog reads them.
	readRow = "as " + watchdogName + " reads them"
	// scaledByWatchdog marks a Deployment that a request of the watchdog scaled.
	scaledByWatchdog = "scaled by the watchdog"
)

// watchdog is what a cell with simulated nodes is about: how many nodes are ready,
// how the requests went by which the watchdog decides, and what it scaled.
type watchdog struct {
	plan     LeasePlan
	on       bool              // whether the history has ages of leases
	ready    map[string]string // the condition of each node
	most     int               // so many nodes at a time
	counts   []nodeCount
	requests lanes
	ages     lanes // of the leases, as the watchdog reads them
	skewed   bool  // whether clocks are wrong, of those who renew leases or of the watchdog
	scaled   lanes // Deployments of the seed
}

// nodeCount is how many nodes are not Ready from a time on, and of those Unknown.
type nodeCount struct {
	at               float64
	unready, unknown int
}

// event takes into account what became of the rig.
func (w *watchdog) event(e timeline.Entry, at float64) {
	switch p := e.Payload.(type) {
	case record.ClockSet:
		w.skewed = w.skewed || p != record.ClockSet{}
	case record.LeaseClockSet:
		w.skewed = true
	case record.LeaseAges:
		w.on = true
	case record.LinkRequest:
		w.requested(e, p, at)
	}
}

// object takes into account what API servers show of nodes, and of Deployments of the seed.
func (w *watchdog) object(v *timeline.Version, at float64) {
	switch {
	case v.Key == "nodes/"+v.Name:
		w.node(v, at)
	case v.Cluster != "" && v.Fields() != nil:
		w.deployment(v, at)
	}
}

// requested takes the watchdog's requests into account.
func (w *watchdog) requested(e timeline.Entry, r record.LinkRequest, at float64) {
	switch {
	case e.Subject == toSeed:
		w.scale(r, at)
	case e.Subject != toShoot:
	case r.Path == "/version":
		w.request("asked whether the API server is there", r, at)
	case strings.HasSuffix(r.Path, "/leases"):
		w.request("leases listed", r, at)
		w.expired(r, e.At, at)
	}
}

// request marks how a request went.
func (w *watchdog) request(question string, r record.LinkRequest, at float64) {
	label, tone := "answered", Good
	switch {
	case r.Code == http.StatusTooManyRequests:
		label, tone = "throttled", Changed
	case r.Code == 0 || r.Code >= http.StatusBadRequest:
		label, tone = "failed", Bad
	}
	w.row(question).mark(at, label, "", tone)
}

func (w *watchdog) row(name string) *lane {
	l := w.requests.named(Link, toShoot+": "+name)
	l.Group = watchdogName
	return l
}

// expired marks which part of the leases in a list was expired, by the clocks of who
// renews them. The watchdog may leave some of them out.
func (w *watchdog) expired(r record.LinkRequest, when time.Time, at float64) {
	if len(r.Renewed) == 0 {
		return
	}
	w.read(r, when, at)
	expired := 0
	for _, renewed := range r.Renewed {
		if renewed.Before(when.Add(-w.plan.Expiry)) {
			expired++
		}
	}
	part := float64(expired) / float64(len(r.Renewed))
	detail, tone := "below the threshold", Good
	if part >= w.plan.Threshold {
		detail, tone = "at the threshold or above", Bad
	}
	if w.plan.Threshold > 0 {
		detail += fmt.Sprintf(" of %g %%", 100*w.plan.Threshold)
	}
	w.row(expiredRow).mark(at, fmt.Sprintf("%.0f %%", 100*part), detail, tone)
}

// read keeps how old the leases in a list are for the watchdog, as far as clocks are wrong:
// by the clocks of who renews them.
func (w *watchdog) read(r record.LinkRequest, when time.Time, at float64) {
	if !w.skewed {
		return
	}
	var ages []float64
	for _, renewed := range r.Renewed {
		ages = append(ages, math.Round(when.Sub(renewed).Seconds()*10)/10)
	}
	slices.Sort(ages)
	row := w.ages.named(Leases, readRow)
	if row.Series == nil {
		row.Series = []Series{{Label: oldestLease}, {Label: "median"}}
		row.Limits = w.plan.limits()[:min(1, len(w.plan.limits()))]
	}
	for i, age := range []float64{ages[len(ages)-1], ages[len(ages)/2]} {
		row.Series[i].Points = append(row.Series[i].Points, [2]float64{at, age})
	}
}

// scale marks that the watchdog scales a Deployment.
func (w *watchdog) scale(r record.LinkRequest, at float64) {
	_, rest, _ := strings.Cut(r.Path, "/deployments/")
	name, is := strings.CutSuffix(rest, "/scale")
	switch {
	case !is || r.Method == http.MethodGet:
	case r.Code == http.StatusOK:
		w.dependent(name).mark(at, scaledByWatchdog, "", Good)
	default:
		w.dependent(name).mark(at, strings.TrimSpace(fmt.Sprintf("the watchdog's request to scale it failed: %d %s", r.Code, http.StatusText(r.Code))), "", Bad)
	}
}

func (w *watchdog) dependent(name string) *lane {
	l := w.scaled.named(ObjectState, dependentsOf+name)
	l.Group = watchdogName
	return l
}

// deployment takes into account how many replicas a Deployment of the seed is to have.
// One that is gone has none.
func (w *watchdog) deployment(v *timeline.Version, at float64) {
	if v.Resource != "deployments" {
		return
	}
	replicas := int(v.Workload().Spec.Replicas)
	if v.Gone() {
		replicas = 0
	}
	w.dependent(v.Name).becomes(at, Span{Label: reports.Counted(replicas, "replica")})
}

// node takes into account whether a node is ready.
func (w *watchdog) node(v *timeline.Version, at float64) {
	if !w.on {
		return
	}
	if len(w.counts) == 0 {
		w.ready, w.counts = make(map[string]string), []nodeCount{{at: at}}
	}
	last := w.counts[len(w.counts)-1]
	now := last
	now.at = at
	if before, is := w.ready[v.Name]; is {
		now.count(before, -1)
	}
	if v.Gone() {
		delete(w.ready, v.Name)
	} else {
		w.ready[v.Name] = cmp.Or(string(v.Condition("Ready").Status), w.ready[v.Name])
		now.count(w.ready[v.Name], 1)
	}
	w.most = max(w.most, len(w.ready))
	if now.unready != last.unready || now.unknown != last.unknown {
		w.counts = append(w.counts, now)
	}
}

// count adds a node with a condition, or takes it away.
func (c *nodeCount) count(ready string, add int) {
	if ready != "True" {
		c.unready += add
	}
	if ready == "Unknown" {
		c.unknown += add
	}
}

// settling is for how long a number must be the same to have a span of its own, in
// seconds, if there is no other before it.
const settling = 1

// nodes is how many nodes are not Ready over time, and of those Unknown. While the
// number changes all the time, the last one stands.
func (w *watchdog) nodes(end float64) []Lane {
	if len(w.counts) == 0 {
		return nil
	}
	l := lane{Lane: Lane{Name: "nodes", Kind: ObjectState}}
	for _, c := range w.counts {
		s := Span{Label: "all are Ready", Tone: Good}
		if c.unready > 0 {
			s = Span{Label: fmt.Sprintf("%d of %d not Ready", c.unready, w.most), Tone: Bad}
		}
		if c.unknown > 0 {
			s.Label += fmt.Sprintf(", %d of them Unknown", c.unknown)
		}
		if l.open != nil && c.at-l.open.From < settling && s.Tone == l.open.Tone {
			l.open.Label = s.Label
		}
		l.becomes(c.at, s)
	}
	l.ends(end)
	return []Lane{l.Lane}
}

// lanes are those of a cell with simulated nodes. Of Deployments it has those that
// were ever observed.
func (w *watchdog) lanes(end float64) []Lane {
	if !w.on {
		return nil
	}
	w.scaled.all = slices.DeleteFunc(w.scaled.all, func(l *lane) bool { return l.open == nil })
	slices.SortFunc(w.scaled.all, func(a, b *lane) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Concat(w.nodes(end), w.requests.until(end), w.scaled.until(end))
}
