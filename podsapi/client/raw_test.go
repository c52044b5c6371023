package client

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/pods/v1alpha1"
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
		n.told <- &v1alpha1.WatchPodsEvent{Type: v1alpha1.EventType_ADDED, Pod: []byte("pod")}
		n.told <- &v1alpha1.WatchPodsEvent{Type: v1alpha1.EventType_INITIAL_SYNC_COMPLETE}
	}()
	enough := errors.New("enough")
	var told []string
	err = c.RawWatch(t.Context(), "", func(kind string, pod []byte) error {
		if told = append(told, kind+" "+string(pod)); len(told) == 2 {
			return enough
		}
		return nil
	})
	if diff := cmp.Diff([]string{"ADDED pod", "INITIAL_SYNC_COMPLETE "}, told); diff != "" || !errors.Is(err, enough) {
		t.Errorf("the error is %v (-want +got):\n%s", err, diff)
	}
	close(n.told)
	if err := c.RawWatch(t.Context(), "", func(string, []byte) error { return nil }); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the watch ended with %v", err)
	}
}
