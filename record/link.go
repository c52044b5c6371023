package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// LinkFault is what is wrong with a link. The zero LinkFault is none: all passes.
type LinkFault struct {
	// Cut is how the link is cut. If unset, it isn't.
	Cut Cut `json:"cut,omitempty"`
	// AfterBytes is how much of each connection, counted from the beginning of
	// the fault in each direction, passes before it is cut. If unset, nothing.
	AfterBytes int64 `json:"afterBytes,omitempty"`
	// Direction is the one that the fault is in; the other one is well. If
	// unset, both.
	Direction Direction `json:"direction,omitempty"`
	// Delay is how much later everything arrives, and Jitter by how much more
	// it may be, at random. What is sent keeps its order. If unset, neither.
	Delay  time.Duration `json:"delay,omitempty"`
	Jitter time.Duration `json:"jitter,omitempty"`
	// BytesPerSecond is what passes at most, in each connection and
	// direction. If unset, any amount.
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`

	// Path is that of the requests that the fault is one of: those are answered
	// with Status, or Delay later, and all others pass. AnyPath is all requests.
	// It takes a link that looks into what it passes. If unset, the fault is one
	// of what is sent, whatever that is.
	Path string `json:"path,omitempty"`
	// Verb and Resource narrow down which of them: a verb as in RBAC (get, list, watch, create,
	// update, patch, delete, deletecollection), and a resource, with its subresource as in
	// pods/status. If unset, any.
	Verb     string `json:"verb,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Nth is which of those, counted from 1 since the fault began. If unset, each.
	Nth int `json:"nth,omitempty"`
	// Lost has the answer get lost, after the server has done what it was asked.
	Lost bool `json:"lost,omitempty"`
	// Crash has the client killed at the request: before the server gets it, or after the server has
	// done it and before the client has the answer. If unset, it is not killed.
	Crash Moment `json:"crash,omitempty"`
	// Stale has the events of watches come late, by Delay, and has all else pass: the client sees a
	// state that is out of date. If there is no Delay, they come when the fault is over.
	Stale bool `json:"stale,omitempty"`
	// Status is the HTTP status of the answer that the link gives. If unset, the
	// server answers.
	Status int `json:"status,omitempty"`
	// RetryAfter is the time, in whole seconds, that goes with the status. If
	// unset, none does.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`

	// Method is that of the calls that the fault is one of, on the link of a kubelet
	// to its container runtime: those fail with Code, or are answered Delay later,
	// and all others pass. AnyMethod is all calls. If unset, the fault is one of the
	// link, and so of all calls.
	Method string `json:"method,omitempty"`
	// Code is the gRPC code with which calls fail, one of Codes, and Message goes
	// with it. If unset, the container runtime answers.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// AnyPath stands for the path of every request.
const AnyPath = "*"

// AnyMethod stands for the method of every call.
const AnyMethod = "*"

// Verbs are those of requests, as in RBAC.
var Verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// Codes are the gRPC codes of calls that failed, in the order of their numbers, from 1.
var Codes = []string{
	"Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied",
	"ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable",
	"DataLoss", "Unauthenticated",
}

// Cut is a way in which a link is cut.
type Cut string

// The ways in which a link is cut.
const (
	// CutReset ends every connection with a TCP reset, as a firewall does that
	// rejects, or a machine that lost its state.
	CutReset Cut = "reset"
	// CutDrop loses what is sent, as a pulled cable does: neither end learns of it. A
	// sender that is patient gets through when the link is healed, because TCP
	// sends again.
	CutDrop Cut = "drop"
)

// Direction is a direction of a link.
type Direction string

// The directions.
const (
	// Forward is from who connects to who listens.
	Forward Direction = "forward"
	// Backward is from who listens to who connected.
	Backward Direction = "backward"
)

// Moment is when a client is killed.
type Moment string

// The moments of a crash.
const (
	CrashBefore Moment = "before"
	CrashAfter  Moment = "after"
)

// Validate returns all that contradicts itself in a fault.
func (f LinkFault) Validate() error {
	var mistakes []error
	mistake := func(is bool, format string, args ...any) {
		if is {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mistake(f.Cut != "" && f.Cut != CutReset && f.Cut != CutDrop, "%q is no way to cut a link: it is %q or %q", f.Cut, CutReset, CutDrop)
	mistake(f.Direction != "" && f.Direction != Forward && f.Direction != Backward, "%q is no direction: it is %q or %q", f.Direction, Forward, Backward)
	mistake(f.Cut == CutReset && f.Direction != "", "a reset ends a connection in both directions")
	mistake(f.AfterBytes < 0 || f.BytesPerSecond < 0, "a number of bytes is not negative")
	mistake(f.AfterBytes > 0 && f.Cut == "", "afterBytes is for a link that is cut")
	mistake(f.Delay < 0 || f.Jitter < 0, "a delay is not negative")
	mistake(f.Slows() && f.Cut != "" && f.AfterBytes == 0, "what is cut can't be slow: the link has either fault, or afterBytes")
	mistake(f.OfRequests() && (f.Cut != "" || f.Direction != "" || f.Jitter != 0 || f.BytesPerSecond != 0), "a fault of requests is a status or a delay, and nothing else")
	mistake(f.Path != "" && f.Path != AnyPath && !strings.HasPrefix(f.Path, "/"), "%q is not a path: it begins with /, or is %q", f.Path, AnyPath)
	mistake(f.Path != "" && f.Status == 0 && f.Delay == 0 && !f.Lost && !f.Stale && f.Crash == "", "what is wrong with requests is a status, a delay, a lost answer, a crash, or events that are late")
	mistake(f.Lost && f.Status != 0, "an answer that gets lost is that of the server")
	mistake(f.Stale && (f.Verb != "watch" || f.Nth != 0 || f.Status != 0 || f.Lost || f.Crash != ""), "only events of watches are late, all of them, and nothing else")
	mistake(f.Crash != "" && f.Crash != CrashBefore && f.Crash != CrashAfter, "%q is no moment of a crash: it is %q or %q", f.Crash, CrashBefore, CrashAfter)
	mistake(f.Crash != "" && (f.Nth == 0 || f.Status != 0 || f.Lost || f.Delay != 0), "a crash is at one request, and nothing else is wrong with it")
	mistake((f.Verb != "" || f.Resource != "" || f.Nth != 0 || f.Lost || f.Crash != "") && f.Path == "", "a verb, a resource and a number are of requests: say of which path")
	mistake(f.Verb != "" && !slices.Contains(Verbs, f.Verb), "%q is no verb of a request: those are %s", f.Verb, strings.Join(Verbs, ", "))
	mistake(f.Nth < 0, "requests are counted from 1")
	mistake(f.Status != 0 && f.Path == "", "a status is the answer to requests: say of which path")
	mistake(f.Status != 0 && (f.Status < 400 || f.Status > 599), "%d is no status of an answer that is bad: those are 400 to 599", f.Status)
	mistake(f.RetryAfter != 0 && f.Status == 0, "retryAfter goes with a status")
	mistake(f.RetryAfter < 0 || f.RetryAfter > time.Hour || f.RetryAfter%time.Second != 0, "retryAfter is a number of whole seconds, up to an hour")
	mistake(f.OfCalls() && (f.Cut != "" || f.Direction != "" || f.Jitter != 0 || f.BytesPerSecond != 0), "a fault of calls is a code or a delay, and nothing else")
	mistake(f.OfCalls() && f.Code == "" && f.Delay == 0, "what is wrong with calls is a code, or a delay")
	mistake(f.Code != "" && !slices.Contains(Codes, f.Code), "%q is no gRPC code of a call that failed: those are %s", f.Code, strings.Join(Codes, ", "))
	mistake(f.Code != "" && !f.OfCalls(), "a code is the answer to calls: say of which method")
	mistake(f.Message != "" && f.Code == "", "a message goes with a code")
	return errors.Join(mistakes...)
}

// String is how a plan describes a fault: "drop forward", "delay 20ms".
func (f LinkFault) String() string {
	switch {
	case f.Stale:
		return f.events()
	case f.Crash != "":
		return fmt.Sprintf("crash %s %s", f.Crash, f.requests())
	}
	var words []string
	word := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	word(f.Cut != "", "%s", f.Cut)
	word(f.Delay > 0, "delay %s", f.Delay)
	word(f.Jitter > 0, "jitter %s", f.Jitter)
	word(f.BytesPerSecond > 0, "%d bytes per second", f.BytesPerSecond)
	word(f.Direction != "", "%s", f.Direction)
	word(f.AfterBytes > 0, "after %d bytes", f.AfterBytes)
	word(f.Status != 0, "answer %d", f.Status)
	word(f.RetryAfter != 0, "retry after %s", f.RetryAfter)
	word(f.Code != "", "answer %s", f.Code)
	word(f.Message != "", "%q", f.Message)
	word(f.Method == AnyMethod, "to all calls")
	word(f.OfCalls() && f.Method != AnyMethod, "to %s", f.Method)
	word(f.Lost, "lose the answer")
	word(f.OfRequests(), "to %s", f.requests())
	if len(words) == 0 {
		return "pass"
	}
	return strings.Join(words, " ")
}

// events are the events of watches that are late, and how late.
func (f LinkFault) events() string {
	how := "until it is healed"
	if f.Delay > 0 {
		how = "for " + f.Delay.String()
	}
	return "hold events of " + cmp.Or(f.Resource, "all watches") + " " + how
}

// requests are those that the fault is one of.
func (f LinkFault) requests() string {
	text := "all requests"
	if f.Nth > 0 {
		text = fmt.Sprintf("request %d", f.Nth)
	}
	switch {
	case f.Verb != "":
		text += " to " + f.Verb + " " + cmp.Or(f.Resource, "anything")
	case f.Resource != "":
		text += " about " + f.Resource
	}
	switch {
	case f.Path == AnyPath:
		return text
	case text == "all requests":
		return f.Path
	default:
		return text + " at " + f.Path
	}
}

// In reports whether the fault is in a direction.
func (f LinkFault) In(d Direction) bool { return f.Direction == "" || f.Direction == d }

// Slows reports whether what is sent arrives later than it would.
func (f LinkFault) Slows() bool {
	return !f.OfRequests() && (f.Delay > 0 || f.Jitter > 0 || f.BytesPerSecond > 0)
}

// OfRequests reports whether the fault is one of HTTP requests, rather than of bytes.
func (f LinkFault) OfRequests() bool { return f.Path != "" }

// OfCalls reports whether the fault is one of calls to a container runtime.
func (f LinkFault) OfCalls() bool { return f.Method != "" }

// Hits reports whether a call of a method, if the link has calls, meets the fault.
func (f LinkFault) Hits(method string) bool {
	return f != LinkFault{} && (!f.OfCalls() || f.Method == AnyMethod || f.Method == method)
}

// Meets reports whether the fault is one of requests of a path that are about a resource, with a
// verb.
func (f LinkFault) Meets(path, verb, resource string) bool {
	return (f.Path == AnyPath || f.Path != "" && f.Path == path) && (f.Verb == "" || f.Verb == verb) && (f.Resource == "" || f.Resource == resource)
}

// Refuses reports whether no connection can be made: a first packet, or its
// answer, gets nowhere.
func (f LinkFault) Refuses() bool { return f.Cut != "" && f.AfterBytes == 0 }

// Effect is what a fault has done, which proves that it was one.
type Effect struct {
	// Reset and Held are numbers of connections, of those that were refused too.
	Reset int64 `json:"reset,omitempty"`
	Held  int64 `json:"held,omitempty"`
	// Withheld and Slowed are numbers of bytes.
	Withheld int64 `json:"withheld,omitempty"`
	Slowed   int64 `json:"slowed,omitempty"`
	// Requests is a number of requests that were answered by the link, held, or
	// never sent, or whose answer was lost; of the link to a container runtime, of such calls.
	Requests int64 `json:"requests,omitempty"`
	// Events is a number of watch events that came late; bookmarks, which say nothing of an
	// object, are not counted.
	Events int64 `json:"events,omitempty"`
}

// Any reports whether there was an effect.
func (e Effect) Any() bool { return e != Effect{} }

// FaultBegan is recorded when a link has another fault than before. The subject
// is the link.
type FaultBegan struct {
	Fault LinkFault `json:"fault"`
}

// FaultEnded is recorded when a fault is over, with what it did.
type FaultEnded struct {
	Fault  LinkFault `json:"fault"`
	Effect Effect    `json:"effect"`
}

// LinkFailed is recorded, once for each link, when skewrig could not forward a connection because it lacks a
// resource, such as file descriptors. Client and server see an outage that no step asked for.
type LinkFailed struct {
	Error string `json:"error"`
}

// LinkRequest is recorded for each request that passes a link that looks into what
// it passes, when the answer is known.
type LinkRequest struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Code is the HTTP status of the answer; 0 if there was none, because of Error.
	Code  int    `json:"code"`
	Error string `json:"error,omitempty"`
	// Answered is true if it was the link that answered, and not the server, and Lost if the
	// answer was the server's, and got lost.
	Answered bool `json:"answered,omitempty"`
	Lost     bool `json:"lost,omitempty"`
	// Seconds is how long it took to answer.
	Seconds float64 `json:"seconds"`
	// Renewed is when each lease was renewed by what its own holder says, by its
	// name, if the answer is a list of leases.
	Renewed map[string]time.Time `json:"renewed,omitempty"`
}
