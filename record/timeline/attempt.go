package timeline

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// Known is a pod as a kubelet may know it.
type Known struct {
	Pod     *Version
	Kubelet *Life
}

// KnownAt returns what kubelets may have known of a connection's pod when it was
// opened: for each that may have run, the state of the pod that was seen last
// before it started, and all since.
func (t *Timeline) KnownAt(c *Connection) (all []Known) {
	states := t.StatesAt(c)
	if len(states) == 0 {
		return nil
	}
	for _, kubelet := range t.Around(KubeletOf(states[0]), c.Opened) {
		for i, state := range states {
			if i+1 < len(states) && states[i+1].Time.Before(kubelet.From.Time) {
				continue
			}
			all = append(all, Known{state, kubelet})
		}
	}
	return all
}

// KubeletOf is the kubelet of a pod's node, as a component.
func KubeletOf(pod *Version) string { return "kubelet/" + pod.PodSpec().NodeName }

// StatesAt returns the states of a connection's pod since it was bound to its node,
// without those of an earlier pod of the same name.
func (t *Timeline) StatesAt(c *Connection) (states []*Version) {
	for _, v := range t.states["pods/"+PodOf(c.Container)] {
		switch {
		case v.Time.After(c.Opened.Add(Slack)) || v.PodSpec().NodeName == "":
		case v.Mirror():
			// What the kubelet runs is what was written to its file, not this.
		default:
			if n := len(states); n > 0 && states[n-1].Meta().UID != v.Meta().UID && v.Time.Before(c.Opened) {
				states = nil
			}
			states = append(states, v)
		}
	}
	return states
}

// EndedWithKubelet reports whether a connection was not ended by what the server
// was asked for, and ended at about the time when a kubelet did.
func (t *Timeline) EndedWithKubelet(c *Connection, kubelet string) bool {
	ended := c.CloseReason == record.ClientClosed || c.CloseReason == record.ClientReset || c.CloseReason == record.Shutdown
	return ended && slices.ContainsFunc(t.Lives(kubelet), func(l *Life) bool {
		return c.Opened.Before(l.Until.Time) && l.Until.Time.Before(c.Closed.Add(Slack))
	})
}

// CutOff reports whether a connection ended without an answer at about the time
// when a kubelet did. It says nothing of the server.
func (t *Timeline) CutOff(c *Connection, kubelet string) bool {
	return !c.Answered() && t.EndedWithKubelet(c, kubelet)
}

// Good reports whether a probe succeeds with an answer.
func Good(r record.Request) bool {
	return r.Health == behavior.Serving || !r.OfGRPC() && r.Status >= http.StatusOK && r.Status < http.StatusBadRequest
}

// Succeeded reports whether a probe succeeds with one of a connection's answers,
// whatever became of its body.
func (c *Connection) Succeeded() bool { return slices.ContainsFunc(c.Requests, Good) }

// Unended reports whether the server sent the headers of an answer, and then
// nothing of its body for as long as the connection lasted.
func (c *Connection) Unended() bool { return c.Fault == behavior.StallAfterHeaders && c.Answered() }

// MayBe reports whether a connection can be a probe's. By its requests it is
// known: a kubelet says in their User-Agent whether it probes or runs a hook.
func (c *Connection) MayBe(p Probe) bool {
	if p.Kind == "" || p.Port != c.Port {
		return false
	}
	agent := "kube-probe/"
	if p.Hook {
		agent = "kube-lifecycle/"
	}
	return len(c.Requests) == 0 || strings.HasPrefix(c.Requests[0].UserAgent, agent)
}

// Among returns the probes that may have opened a connection, and of them those that
// ask for what it asked for, if there is one.
func (c *Connection) Among(probes []Probe) []Probe {
	may := slices.DeleteFunc(slices.Clone(probes), func(p Probe) bool { return !c.MayBe(p) })
	asked := slices.DeleteFunc(slices.Clone(may), func(p Probe) bool { return !c.askedBy(p) })
	if len(asked) > 0 {
		return asked
	}
	return may
}

// askedBy reports whether a connection's first request is a probe's.
func (c *Connection) askedBy(p Probe) bool {
	if len(c.Requests) == 0 {
		return false
	}
	switch first := c.Requests[0]; p.Kind {
	case GRPC:
		service := p.Handler.GRPC.Service
		return first.Service != nil && (service == nil && *first.Service == "" || service != nil && *first.Service == *service)
	case HTTPGet:
		return askedFirst(first) == cmp.Or(p.Handler.HTTPGet.Path, "/")
	default:
		return false
	}
}

// askedFirst is the path that led to a request: its own, or the one that redirected
// to it, which clients name. After several redirects that is none of a probe's.
func askedFirst(r record.Request) string {
	referers := r.Headers["Referer"]
	if len(referers) == 0 {
		return r.Path
	}
	from, err := url.Parse(referers[0])
	if err != nil {
		return "" // it is no probe's then
	}
	return from.RequestURI()
}
