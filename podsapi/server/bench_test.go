package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/podsapi/internal/samples"
	"github.com/skewrig/skewrig/podsapi/mask"
)

const threeFields = "metadata.name,status.phase,spec.containers.name"

func BenchmarkListMasked(b *testing.B) { benchmarkList(b, threeFields) }

func BenchmarkListFull(b *testing.B) { benchmarkList(b, "*") }

// benchmarkList lists 500 pods, end to end.
func benchmarkList(b *testing.B, keep string) {
	g := newRig(b)
	g.set(b, samples.Pods(500)...)
	ctx := masked(b.Context(), keep)
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		list, err := g.ListPods(ctx, &pods.ListPodsRequest{})
		if err != nil {
			b.Fatal(err)
		}
		size = 0
		for _, wire := range list.GetPods() {
			size += len(wire)
		}
	}
	b.ReportMetric(float64(size), "B/list")
}

func BenchmarkGet(b *testing.B) {
	g := newRig(b)
	g.set(b, samples.Pods(500)...)
	request := &pods.GetPodRequest{PodUID: string(uidOf(250))}
	for b.Loop() {
		if _, err := g.GetPod(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDelivery has 200 clients, each with a connection and a watch of its
// own, of 500 pods, of which 100 change every second. It reports after how long a
// change has reached a client. An iteration is a change.
func BenchmarkDelivery(b *testing.B) {
	for _, keep := range []string{"metadata.name,status.message", "*"} {
		b.Run(keep, func(b *testing.B) { benchmarkDelivery(b, keep) })
	}
}

func benchmarkDelivery(b *testing.B, keep string) {
	const watchers = 200
	g := newRig(b)
	all := samples.Pods(500)
	g.set(b, all...)
	took := make([][]time.Duration, watchers)
	var synced, reading sync.WaitGroup
	for i := range watchers {
		synced.Add(1)
		conn := g.connect(b)
		reading.Go(func() { took[i] = receive(b, conn, keep, &synced) })
	}
	synced.Wait()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-tick.C
		p := all[i%len(all)].DeepCopy()
		p.Status.Message = strconv.FormatInt(time.Now().UnixNano(), 10)
		g.set(b, p)
	}
	b.StopTimer()
	g.Remove(all[0].UID)
	reading.Wait()
	every := slices.Sorted(slices.Values(slices.Concat(took...)))
	if len(every) == 0 {
		return
	}
	at := func(q float64) float64 { return every[int(q*float64(len(every)-1))].Seconds() * 1e3 }
	b.ReportMetric(at(.5), "p50-ms")
	b.ReportMetric(at(.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
	b.ReportMetric(float64(len(every))/float64(b.N*watchers), "delivered")
}

// receive watches until the pod that ends the benchmark, and returns how long each
// change took until all its bytes were there. It keeps none of them: 200 agents
// that make pods of them, on the machine of the server, would be all that is
// measured.
func receive(b *testing.B, conn *grpc.ClientConn, keep string, synced *sync.WaitGroup) []time.Duration {
	stream, err := conn.NewStream(masked(context.Background(), keep), &pods.Pods_ServiceDesc.Streams[0],
		pods.Pods_WatchPods_FullMethodName, grpc.ForceCodecV2(bytesOnly{}))
	if err == nil {
		err = errors.Join(stream.SendMsg(&pods.WatchPodsRequest{}), stream.CloseSend())
	}
	var took []time.Duration
	var event eventBytes
	for err == nil {
		if err = stream.RecvMsg(&event); err != nil {
			break
		}
		now := time.Now()
		switch event.kind {
		case pods.EventType_INITIAL_SYNC_COMPLETE:
			synced.Done()
		case pods.EventType_MODIFIED:
			took = append(took, now.Sub(event.sent))
		case pods.EventType_DELETED:
			return took
		}
	}
	b.Error(err)
	return nil
}

// eventBytes is an event of a watch: its type, and the time in the message of its
// pod's status.
type eventBytes struct {
	wire, message []byte
	kind          pods.EventType
	sent          time.Time
}

// bytesOnly is a codec that takes events without keeping their pods.
type bytesOnly struct{}

func (bytesOnly) Name() string { return "proto" }

func (bytesOnly) Marshal(v any) (mem.BufferSlice, error) {
	return encoding.GetCodecV2("proto").Marshal(v)
}

var messageOnly, _ = mask.Parse("status.message")

func (bytesOnly) Unmarshal(data mem.BufferSlice, v any) error {
	event := v.(*eventBytes)
	event.wire = slices.Grow(event.wire[:0], data.Len())[:data.Len()]
	data.CopyTo(event.wire)
	event.kind, event.sent = 0, time.Time{}
	for rest := event.wire; len(rest) > 0; {
		number, typ, tag := protowire.ConsumeTag(rest)
		size := protowire.ConsumeFieldValue(number, typ, rest[max(tag, 0):])
		if tag < 0 || size < 0 {
			return errors.New("not an event")
		}
		value := rest[tag:]
		rest = rest[tag+size:]
		if number == 1 {
			kind, _ := protowire.ConsumeVarint(value)
			event.kind = pods.EventType(kind)
			continue
		}
		pod, _ := protowire.ConsumeBytes(value)
		var err error
		if event.message, err = messageOnly.Filter(event.message[:0], pod); err != nil {
			return err
		}
		var p corev1.Pod
		if err := p.Unmarshal(event.message); err != nil {
			return err
		}
		if nanoseconds, err := strconv.ParseInt(p.Status.Message, 10, 64); err == nil {
			event.sent = time.Unix(0, nanoseconds)
		}
	}
	return nil
}

// BenchmarkChangesWithAStuckWatcher changes 500 pods, one each iteration, while a
// client watches and never reads. It reports how many events are kept for it, and
// how much memory is in use in the end.
func BenchmarkChangesWithAStuckWatcher(b *testing.B) {
	g := newRig(b)
	all := samples.Pods(500)
	g.set(b, all...)
	g.watch(b)
	eventually(b, "the watch is open", func() bool { return len(g.Clients()) > 0 && g.client(b, 0).Watching == 1 })
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		p := *all[i%len(all)]
		p.Status.Message = fmt.Sprint(i)
		g.set(b, &p)
		i++
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB-heap")
	b.ReportMetric(float64(pending(g)), "pending")
}
