package server

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// The methods, as Calls names them.
const (
	methodList  = "ListPods"
	methodGet   = "GetPod"
	methodWatch = "WatchPods"
	// methodOther stands for all that don't exist.
	methodOther = "other"
)

// Calls is how many calls of a method ended with a code.
type Calls struct {
	// Method is the name of the method, such as ListPods, or "other" for methods
	// that there aren't.
	Method string `json:"method"`
	// Code is the name of the code as in Go, such as OK or NotFound.
	Code string `json:"code"`
	// Count is the number of calls.
	Count int64 `json:"count"`
}

// outcome is the end of a call.
type outcome struct {
	method string
	code   codes.Code
}

type outcomes map[outcome]int64

// calls returns the outcomes by method and code.
func (o outcomes) calls() []Calls {
	calls := make([]Calls, 0, len(o))
	for end, count := range o {
		calls = append(calls, Calls{Method: end.method, Code: end.code.String(), Count: count})
	}
	slices.SortFunc(calls, func(a, b Calls) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Code, b.Code))
	})
	return calls
}

// call is a call that is being answered.
type call struct {
	method string
	// opened is set once a watch is open, and has been counted.
	opened bool
}

type callKey struct{}

// TagRPC implements stats.Handler, which counts also calls that end before they
// come to the service, as one whose request is too large.
func (c *clients) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	method := methodOther
	if name, ok := strings.CutPrefix(info.FullMethodName, "/"+pods.Pods_ServiceDesc.ServiceName+"/"); ok &&
		slices.Contains([]string{methodList, methodGet, methodWatch}, name) {
		method = name
	}
	return context.WithValue(ctx, callKey{}, &call{method: method})
}

// HandleRPC implements stats.Handler: it counts calls when they end.
func (c *clients) HandleRPC(ctx context.Context, what stats.RPCStats) {
	call, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return
	}
	switch what := what.(type) {
	case *stats.Begin:
		if call.method != methodWatch {
			c.answering.Add(1)
		}
	case *stats.End:
		if call.method != methodWatch {
			defer c.answering.Add(-1)
		}
		code := status.Code(what.Error)
		clientOf(ctx).called(outcome{call.method, code})
		if !call.opened {
			c.count(outcome{call.method, code})
		}
	}
}

// opened counts a watch as soon as it is open, since it may stay so for good.
func (c *clients) opened(ctx context.Context) {
	if call, ok := ctx.Value(callKey{}).(*call); ok {
		call.opened = true
		c.count(outcome{call.method, codes.OK})
	}
}

// TagConn implements stats.Handler.
func (c *clients) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (c *clients) HandleConn(context.Context, stats.ConnStats) {}
