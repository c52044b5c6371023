package client

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/harness/await"
)

func TestRawIsAsItCame(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[0])
	broken := []byte("no pod")
	n.answers(nil, encoded(t, "web"), broken)
	socket, _ := Find(n.root)
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listed, err := c.Raw(t.Context(), Request{Method: ListPods, Fields: "metadata.name"})
	if diff := cmp.Diff([][]byte{encoded(t, "web"), broken}, listed); diff != "" || err != nil {
		t.Errorf("the list, error %v (-want +got):\n%s", err, diff)
	}
	if n.masks[0] != "metadata.name" {
		t.Errorf("the mask that was sent is %q", n.masks[0])
	}
	got, err := c.Raw(t.Context(), Request{Method: GetPod, UID: "uid"})
	if diff := cmp.Diff([][]byte{encoded(t, "web")}, got); diff != "" || err != nil {
		t.Errorf("the get, error %v (-want +got):\n%s", err, diff)
	}
	for r, want := range map[Request]codes.Code{
		{Method: GetPod, UID: "other"}: codes.NotFound, {Method: WatchPods}: codes.Unimplemented,
	} {
		if pods, err := c.Raw(t.Context(), r); status.Code(err) != want || pods != nil {
			t.Errorf("%v: %v, error %v, want %s", r, pods, err, want)
		}
	}
}

func TestRawWatch(t *testing.T) {
	t.Parallel()
	n := newNode(t, Places[0])
	socket, _ := Find(n.root)
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() {
		n.events <- &v1alpha1.WatchPodsEvent{Type: v1alpha1.EventType_ADDED, Pod: []byte("pod")}
		n.events <- &v1alpha1.WatchPodsEvent{Type: v1alpha1.EventType_INITIAL_SYNC_COMPLETE}
	}()
	enough := errors.New("enough")
	var received []string
	err = c.RawWatch(t.Context(), "", func(kind string, pod []byte) error {
		if received = append(received, kind+" "+string(pod)); len(received) == 2 {
			return enough
		}
		return nil
	})
	if diff := cmp.Diff([]string{"ADDED pod", "INITIAL_SYNC_COMPLETE "}, received); diff != "" || !errors.Is(err, enough) {
		t.Errorf("the error is %v (-want +got):\n%s", err, diff)
	}
	close(n.events)
	if err := c.RawWatch(t.Context(), "", func(string, []byte) error { return nil }); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the watch ended with %v", err)
	}
}

// TestTheSocketComesLater: a client that is there before the kubelet finds the socket
// at the place where the kubelet makes it.
func TestTheSocketComesLater(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "kubelet")
	c, err := DialIn(root)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := func() codes.Code {
		_, err := c.Raw(t.Context(), Request{Method: ListPods})
		return status.Code(err)
	}
	if code := list(); code != codes.Unavailable {
		t.Errorf("without a socket: %s", code)
	}
	n := newNode(t, ReleasedPlace)
	if err := os.Symlink(n.root, root); err != nil {
		t.Fatal(err)
	}
	if !await.Until(t.Context(), time.Minute, func() bool { return list() == codes.OK }) {
		t.Error("the socket was not found")
	}
}
