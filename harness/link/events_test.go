package link

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// watching plays an API server whose watches show what is sent, in a media type.
func watching(mediaType string, sent <-chan metav1.WatchEvent) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
		to := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(w), info.StreamSerializer.Serializer)
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case event := <-sent:
				_ = to.Encode(&event) // who does not listen has gone
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
}

// seen are the types of events as a client gets them.
func seen(t *testing.T, mediaType string, body io.ReadCloser) <-chan string {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	from := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(body), info.StreamSerializer.Serializer)
	all := make(chan string, 10)
	go func() {
		defer close(all)
		for {
			var event metav1.WatchEvent
			if _, _, err := from.Decode(nil, &event); err != nil {
				return
			}
			all <- fmt.Sprintf("%s %d", event.Type, len(event.Object.Raw))
		}
	}()
	return all
}

func next(t *testing.T, events <-chan string) string {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(patience):
		t.Fatal("no event came")
		return ""
	}
}

// TestWatchEventsAreHeldUntilTheLinkIsHealed: of the resource that the fault names, and in the
// order in which they came, in JSON and in protobuf.
func TestWatchEventsAreHeldUntilTheLinkIsHealed(t *testing.T) {
	t.Parallel()
	for _, mediaType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(mediaType, func(t *testing.T) {
			t.Parallel()
			sent := make(chan metav1.WatchEvent)
			r := newHTTPRig(t, watching(mediaType, sent))
			resp, err := r.get("/api/v1/pods?watch=true")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			events := seen(t, mediaType, resp.Body)
			send := func(kind string, size int) {
				raw, _ := json.Marshal(string(bytes.Repeat([]byte("x"), size-2)))
				sent <- metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw}}
			}

			r.set(record.LinkFault{Path: record.AnyPath, Verb: "watch", Resource: "nodes", Stale: true})
			send("ADDED", 10)
			if got := next(t, events); got != "ADDED 10" {
				t.Errorf("of another resource comes %s", got)
			}

			r.set(record.LinkFault{Path: record.AnyPath, Verb: "watch", Resource: "pods", Stale: true})
			send("MODIFIED", 100_000)
			send("BOOKMARK", 10)
			send("DELETED", 20)
			resp2, err := r.get("/api/v1/pods") // it passes while events are held
			if err != nil {
				t.Fatal(err)
			}
			resp2.Body.Close()
			if !await.Until(t.Context(), patience, func() bool { return r.events.Load().effect().Events == 2 }) {
				t.Fatalf("the fault holds %+v", r.events.Load().effect())
			}
			select {
			case e := <-events:
				t.Errorf("%s came while events are held", e)
			default:
			}
			r.set(record.LinkFault{})
			for _, want := range []string{"MODIFIED 100000", "BOOKMARK 10", "DELETED 20"} {
				if got := next(t, events); got != want {
					t.Errorf("after it was healed comes %s, want %s", got, want)
				}
			}
			var effects []int64
			for _, ended := range record.All[record.FaultEnded](r.history.Events()) {
				effects = append(effects, ended.Effect.Events)
			}
			if fmt.Sprint(effects) != "[0 2]" {
				t.Errorf("the faults held %v events, want 0 and then 2", effects)
			}
		})
	}
}

// TestWatchEventsAreLate: each by the delay of the fault, and not by that of those before it.
func TestWatchEventsAreLate(t *testing.T) {
	t.Parallel()
	const delay = 300 * time.Millisecond
	sent := make(chan metav1.WatchEvent)
	r := newHTTPRig(t, watching("application/json", sent))
	resp, err := r.get("/apis/apps/v1/namespaces/a/replicasets?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := seen(t, "application/json", resp.Body)
	r.set(record.LinkFault{Path: record.AnyPath, Verb: "watch", Delay: delay, Stale: true})
	began := time.Now()
	for range 3 {
		sent <- metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte("{}")}}
	}
	for range 3 {
		next(t, events)
	}
	if took := time.Since(began); took < delay {
		t.Errorf("three events came after %s, want at least %s", took, delay)
	}
}

// TestEventsAreHeldBesideAnotherFault: each has its own effect, and none is the end of both.
func TestEventsAreHeldBesideAnotherFault(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(http.ResponseWriter, *http.Request) {})
	held := record.LinkFault{Path: record.AnyPath, Verb: "watch", Resource: "pods", Stale: true}
	refused := record.LinkFault{Path: record.AnyPath, Status: 503}
	r.set(held)
	r.set(refused)
	if got := r.says("/version"); !strings.HasPrefix(got, "503") {
		t.Errorf("the answer is %s", got)
	}
	if r.events.Load().fault != held || r.phase.Load().fault != refused {
		t.Errorf("the faults are %v and %v", r.events.Load().fault, r.phase.Load().fault)
	}
	r.set(record.LinkFault{})
	var ended []record.FaultEnded
	for _, e := range record.All[record.FaultEnded](r.history.Events()) {
		ended = append(ended, e)
	}
	if len(ended) != 2 || ended[0].Fault != held || ended[1].Effect != (record.Effect{Requests: 1}) {
		t.Errorf("what ended is %+v", ended)
	}
}
