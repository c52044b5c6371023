package link

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// untilHealed is later than any fault is over.
const untilHealed = 1000 * time.Hour

// watched has the events of a watch pass one by one, each as late as the fault says that is in
// force when it comes. They keep their order. Events in another form than JSON or protobuf pass as
// they come.
func (d *door) watched(resp *http.Response, resource string) {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	info, known := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !known || info.StreamSerializer == nil {
		return
	}
	events := watchedEvents{
		door: d, path: resp.Request.URL.Path, resource: resource, format: info.StreamSerializer,
		from: streaming.NewDecoder(info.StreamSerializer.NewFrameReader(resp.Body), info.StreamSerializer.Serializer),
	}
	client, to := io.Pipe()
	underway := make(chan chunk, maxUnderway)
	d.link.work.Go(func() { _ = to.CloseWithError(deliver(to, underway, d.link.closed.Done())) })
	d.link.work.Go(func() { defer close(underway); events.read(underway) })
	resp.Body = passed{client, resp.Body}
}

// passed is the body that a client gets, which ends with that of the server.
type passed struct {
	*io.PipeReader
	server io.Closer
}

// Close implements io.Closer.
func (p passed) Close() error { return errors.Join(p.PipeReader.Close(), p.server.Close()) }

// watchedEvents are the events of a watch of a resource, as a server sends them.
type watchedEvents struct {
	door           *door
	path, resource string
	format         *runtime.StreamSerializerInfo
	from           streaming.Decoder
}

// read reads events until the server, or the client, has no more to say.
func (e watchedEvents) read(underway chan<- chunk) {
	for {
		var event metav1.WatchEvent
		if _, _, err := e.from.Decode(nil, &event); err != nil {
			return
		}
		next := e.late(event.Type)
		var written bytes.Buffer
		if streaming.NewEncoder(e.format.NewFrameWriter(&written), e.format.Serializer).Encode(&event) != nil {
			return
		}
		next.data = written.Bytes()
		underway <- next
	}
}

// late says when an event is to arrive that has come now. Bookmarks are late, too, and no effect:
// they say nothing of an object.
func (e watchedEvents) late(kind string) chunk {
	p := e.door.link.events.Load()
	next := chunk{over: p.over}
	if !p.fault.Meets(e.path, "watch", e.resource) {
		return next
	}
	if kind != string(watch.Bookmark) {
		p.events.Add(1)
	}
	next.due = time.Now().Add(untilHealed)
	if p.fault.Delay > 0 {
		next.due = time.Now().Add(p.fault.Delay)
	}
	return next
}
