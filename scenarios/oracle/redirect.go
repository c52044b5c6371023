package oracle

import (
	"net/http"
	"net/url"
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
// redirected. A client says what redirected it in its request; of one that never came to
// a request it is the last redirect in the pod that nothing else followed.
func follow(attempts []reports.Attempt) {
	followed := make(map[int]bool)
	link := func(i int, from func(reports.Attempt, record.Request) bool) {
		for j := i; j >= 0; j-- {
			a := &attempts[j]
			r, is := redirect(*a)
			if j == i || !is || followed[j] || len(a.Probes) == 0 || timeline.PodOf(a.Container) != timeline.PodOf(attempts[i].Container) || !from(*a, r) {
				continue
			}
			waited := attempts[i].Opened.Sub(r.Started.Add(time.Duration(r.Duration)))
			if waited < -aside || waited > atOnce {
				continue
			}
			followed[j], attempts[i].Follows, attempts[i].Probes = true, j+1, a.Probes
			return
		}
	}
	for i, a := range attempts {
		if referer := refererOf(a); referer != nil {
			link(i, func(from reports.Attempt, r record.Request) bool {
				return referer.Port() == strconv.Itoa(int(from.Port)) && referer.RequestURI() == r.Path
			})
		}
	}
	for i, a := range attempts {
		if len(a.Requests) == 0 && len(a.Probes) == 0 {
			link(i, func(from reports.Attempt, _ record.Request) bool { return from.Port != a.Port })
		}
	}
	for _, a := range attempts {
		if a.Follows > 0 && !a.Succeeded {
			attempts[a.Follows-1].Succeeded = false
		}
	}
}

// redirect is the request of an attempt that was answered with a redirect.
func redirect(a reports.Attempt) (record.Request, bool) {
	if n := len(a.Requests); n > 0 && a.Requests[n-1].Status >= http.StatusMultipleChoices && a.Requests[n-1].Status < http.StatusBadRequest {
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
