package conformance

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/podsapi/client"
)

const (
	// patience is how long one answer, or the initial pods of a watch, may take.
	patience = 30 * time.Second
	// many is how often it is asked to find out whether the rate is limited.
	many = 300
	// pace is how many single requests there are a second: a kubelet takes 100, and
	// has other clients. One that is refused for its rate is made again.
	pace, tries = 20, 20
	// rounds is how often everything is looked at again because pods came or went
	// meanwhile.
	rounds = 5
)

// Observe asks a server for everything that is judged, and records the answers, also
// that there were none. It takes a second or two, and asks 600 times in part of that;
// it changes nothing. If the context ends, the record is of what was seen by then.
func Observe(ctx context.Context, socket string) (Record, error) {
	path, err := filepath.Abs(socket)
	if err != nil {
		return Record{}, err
	}
	o := observer{pace: rate.NewLimiter(pace, 1)}
	for i := range o.clients {
		if o.clients[i], err = client.Dial(path); err != nil {
			return Record{}, err
		}
		defer o.clients[i].Close()
	}
	_, err = os.Stat(path)
	r := Record{Path: path, Socket: client.Stat(path), Closed: errors.Is(err, fs.ErrPermission)}
	for range rounds {
		if o.round(ctx, &r); r.steady() || ctx.Err() != nil {
			break
		}
	}
	if r.Before.Code == ok {
		r.Lists = o.masses(ctx, client.ListPods)
		r.Opened = o.masses(ctx, client.WatchPods)
	}
	return r, ctx.Err()
}

// ok is the code of what was answered.
var ok = codes.OK.String()

// steady reports whether the same pods were there all the time.
func (r *Record) steady() bool {
	before, after := r.Before.byUID(), r.After.byUID()
	return maps.EqualFunc(before, after, func(Pod, Pod) bool { return true })
}

type observer struct {
	// clients are two, because two watches of one client may fare as one.
	clients [2]*client.Client
	pace    *rate.Limiter
}

// round looks at everything once. Where the list is not to be had, nothing else is.
func (o *observer) round(ctx context.Context, r *Record) {
	list := client.Request{Method: client.ListPods}
	if r.Before = o.ask(ctx, list); r.Before.Code != ok {
		return
	}
	r.Watches = o.watchTogether(ctx)
	r.MaskedWatch = o.watch(ctx, o.clients[0], Fields, func(context.Context) {})
	if len(r.Before.Pods) > 0 {
		r.UID = string(r.Before.Pods[0].UID)
		r.Got = o.ask(ctx, client.Request{Method: client.GetPod, UID: r.UID})
		r.MaskedGot = o.ask(ctx, client.Request{Method: client.GetPod, UID: r.UID, Fields: Fields})
	}
	r.Unknown = o.ask(ctx, client.Request{Method: client.GetPod, UID: UnknownUID})
	r.MaskedList = o.ask(ctx, client.Request{Method: client.ListPods, Fields: Fields})
	r.Malformed = o.ask(ctx, client.Request{Method: client.ListPods, Fields: BadFields})
	r.After = o.ask(ctx, list)
}

// paced does something again, at a bearable rate, as long as that is refused for the
// rate.
func (o *observer) paced(ctx context.Context, do func(context.Context) (code string)) {
	for range tries {
		if o.pace.Wait(ctx) != nil {
			return
		}
		if do(ctx) != codes.ResourceExhausted.String() {
			return
		}
	}
}

func (o *observer) ask(ctx context.Context, request client.Request) (answer Answer) {
	answer.Code = codes.Canceled.String()
	o.paced(ctx, func(ctx context.Context) string {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		wires, err := o.clients[0].Raw(ctx, request)
		answer = Answer{Code: status.Code(err).String(), Message: status.Convert(err).Message()}
		for _, wire := range wires {
			answer.Pods = append(answer.Pods, decode(wire))
			answer.Bytes += len(wire)
		}
		return answer.Code
	})
	return answer
}

func decode(wire []byte) (p Pod) {
	if err := p.Unmarshal(wire); err != nil {
		return Pod{Unreadable: err.Error()}
	}
	return p
}

// masses asks very often at once.
func (o *observer) masses(ctx context.Context, method string) map[string]int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var mu sync.Mutex
	counts := make(map[string]int)
	client.AtOnce(many, func(int) {
		code := o.clients[0].Ask(ctx, client.Request{Method: method, Fields: Fields}).Code
		mu.Lock()
		counts[code]++
		mu.Unlock()
	})
	return counts
}

// names are the keys of a map in order.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
