package oracle

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// A probe that is redirected opens another connection at once. So long may pass until it
// is accepted, and so much may clocks of two connections differ.
const (
	atOnce = 2 * time.Second
	aside  = 20 * time.Millisecond
)

// follow finds the attempts that redirects led to, which are those of the probe that was
// redirected. A client says what redirected it in its request. One that never came to a
// request went where a redirect in its pod led that nothing else followed: the last one, or,
// where those are of several probes, it is not known which.
func follow(attempts []reports.Attempt) {
	followed := make(map[int]bool)
	link := func(i, from int) {
		followed[from], attempts[i].Follows, attempts[i].Probes = true, from+1, attempts[from].Probes
	}
	for i, a := range attempts {
		if referer := refererOf(a); referer != nil {
			from := redirectsTo(attempts, i, followed, func(from reports.Attempt, r record.Request) bool {
				return referer.Port() == strconv.Itoa(int(from.Port)) && referer.RequestURI() == r.Path
			})
			if len(from) > 0 {
				link(i, from[0])
			}
		}
	}
	for i, a := range attempts {
		if len(a.Requests) > 0 || len(a.Probes) > 0 {
			continue
		}
		from := redirectsTo(attempts, i, followed, func(from reports.Attempt, r record.Request) bool { return leadsTo(from, r, a) })
		if probes := probesOf(attempts, from); len(from) > 0 && slices.Equal(probes, attempts[from[0]].Probes) {
			link(i, from[0])
		} else {
			attempts[i].Probes = probes
		}
	}
	for _, a := range attempts {
		if a.Follows > 0 && !a.Succeeded {
			attempts[a.Follows-1].Succeeded = false
		}
	}
}

// redirectsTo are the places of the redirects that may have led to an attempt, the last one
// first: a probe of its pod had them just before it, and nothing followed them yet.
func redirectsTo(attempts []reports.Attempt, to int, followed map[int]bool, mayBe func(reports.Attempt, record.Request) bool) (from []int) {
	for j, a := range slices.Backward(attempts[:to]) {
		r, is := redirect(a)
		if !is || followed[j] || len(a.Probes) == 0 || timeline.PodOf(a.Container) != timeline.PodOf(attempts[to].Container) {
			continue
		}
		waited := attempts[to].Opened.Sub(r.Started.Add(time.Duration(r.Duration)))
		if -aside <= waited && waited <= atOnce && mayBe(a, r) {
			from = append(from, j)
		}
	}
	return from
}

// probesOf are the probes that made some attempts.
func probesOf(attempts []reports.Attempt, places []int) (probes []reports.Probe) {
	for _, place := range places {
		probes = append(probes, attempts[place].Probes...)
	}
	return compact(probes)
}

// leadsTo reports whether a redirect leads to where an attempt went. A kubelet follows none
// to another host. Older records do not have where a redirect leads.
func leadsTo(from reports.Attempt, r record.Request, to reports.Attempt) bool {
	if r.Location == "" {
		return from.Port != to.Port
	}
	base := url.URL{Scheme: "http", Host: from.Local}
	if from.First == record.FirstTLS {
		base.Scheme = "https"
	}
	target, err := base.Parse(r.Location)
	if err != nil || (target.Scheme == "https") != (to.First == record.FirstTLS) && to.First != record.FirstNothing {
		return false
	}
	standard := map[string]string{"http": "80", "https": "443"}[target.Scheme]
	return net.JoinHostPort(target.Hostname(), cmp.Or(target.Port(), standard)) == to.Local
}

// redirect is the request of an attempt that was answered with a redirect.
func redirect(a reports.Attempt) (record.Request, bool) {
	if n := len(a.Requests); n > 0 && a.Requests[n-1].Redirected() {
		return a.Requests[n-1], true
	}
	return record.Request{}, false
}

// refererOf is what redirected the client of an attempt. It is nil if it says nothing of that.
func refererOf(a reports.Attempt) *url.URL {
	if len(a.Requests) == 0 || len(a.Requests[0].Headers["Referer"]) == 0 {
		return nil
	}
	from, err := url.Parse(a.Requests[0].Headers["Referer"][0])
	if err != nil {
		return nil
	}
	return from
}
