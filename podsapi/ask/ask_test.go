package ask

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/podsapi/server"
)

const staticUID = "0123456789abcdef0123456789abcdef"

func pod(namespace, name, uid string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.UID = namespace, name, types.UID(uid)
	p.Labels = map[string]string{"app": name}
	p.Status.Phase = corev1.PodRunning
	return p
}

func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pods") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "pods.sock")
}

func serve(t *testing.T, ready bool, config server.Config) *server.Server {
	t.Helper()
	config.Socket = socketPath(t)
	s, err := server.Listen(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Set(pod("a", "web", "uid-1"), pod("b", "web", "uid-2"), pod("a", "db", staticUID)); err != nil {
		t.Fatal(err)
	}
	s.SetReady(ready)
	return s
}

func open(t *testing.T, socket, fields string) *Node {
	t.Helper()
	n, err := Open(socket, fields)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func TestGetFindsAPod(t *testing.T) {
	t.Parallel()
	n := open(t, serve(t, true, server.Config{Open: true}).Socket(), "")
	for which, want := range map[string]string{
		"db": staticUID, "a/db": staticUID, staticUID: staticUID, "b/web": "uid-2", "uid-1": "uid-1",
	} {
		if got, err := n.Get(t.Context(), which); err != nil || string(got.UID) != want {
			t.Errorf("%s: %v, error %v, want %s", which, got, err, want)
		}
	}
	for which, want := range map[string]string{
		"web": `"web" is the name of 2 pods: a/web, b/web`, "none": `no pod "none" among the 3`,
		"0123456789abcdef0123456789abcde0": "no pod with the UID",
	} {
		if _, err := n.Get(t.Context(), which); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", which, err, want)
		}
	}
}

func TestWatchTellsUntilItEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, true, server.Config{})
	n := open(t, s.Socket(), "metadata.name")
	ctx, cancel := context.WithCancel(t.Context())
	var events []string
	err := n.Watch(ctx, func(e Event) error {
		switch {
		case e.Type == "INITIAL_SYNC_COMPLETE":
			s.Remove("uid-1")
		case e.Type == "DELETED":
			events = append(events, e.Type+" "+string(e.Pod.UID))
			cancel()
		case len(e.Pod.Labels) > 0:
			t.Errorf("%s has labels", e.Pod.Name)
		}
		return nil
	})
	if err != nil || len(events) != 1 || events[0] != "DELETED uid-1" || n.MaskIgnored() {
		t.Errorf("events %q, mask ignored %t, error %v", events, n.MaskIgnored(), err)
	}
	s.Disturb(server.Disturbance{BreakAfter: 1})
	if err := n.Watch(t.Context(), func(Event) error { return nil }); err == nil || !strings.Contains(err.Error(), "the watch broke off (the watch was ended on purpose after 1 events): watch again") {
		t.Errorf("a broken watch: %v", err)
	}
	stop := errors.New("stop")
	s.Disturb(server.Disturbance{})
	if err := n.Watch(t.Context(), func(Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a watch whose callback returns an error: %v", err)
	}
}

// maskless is a server as released kubelets are: it has no field masks.
type maskless struct {
	v1alpha1.UnimplementedPodsServer
	err error
}

func (m maskless) ListPods(context.Context, *v1alpha1.ListPodsRequest) (*v1alpha1.ListPodsResponse, error) {
	wire, _ := pod("a", "web", "uid-1").Marshal()
	return &v1alpha1.ListPodsResponse{Pods: [][]byte{wire}}, m.err
}

func (m maskless) WatchPods(*v1alpha1.WatchPodsRequest, grpc.ServerStreamingServer[v1alpha1.WatchPodsEvent]) error {
	return m.err
}

func serveMaskless(t *testing.T, err error) string {
	t.Helper()
	socket := socketPath(t)
	listener, listenErr := net.Listen("unix", socket)
	if listenErr != nil {
		t.Fatal(listenErr)
	}
	server := grpc.NewServer()
	v1alpha1.RegisterPodsServer(server, maskless{err: err})
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return socket
}

func TestAMaskHoldsWithoutTheServer(t *testing.T) {
	t.Parallel()
	n := open(t, serveMaskless(t, nil), "metadata.name")
	pods, err := n.List(t.Context())
	if err != nil || len(pods) != 1 || pods[0].Name != "web" || pods[0].UID != "" || pods[0].Labels != nil {
		t.Errorf("listed %+v, error %v", pods, err)
	}
	if !n.MaskIgnored() {
		t.Error("MaskIgnored is false, and the server ignored the mask")
	}
	whole := open(t, n.socket, "")
	if _, err := whole.List(t.Context()); err != nil || whole.MaskIgnored() {
		t.Errorf("without a mask: ignored %t, error %v", whole.MaskIgnored(), err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dead := socketPath(t)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	listener.Close()
	for name, tc := range map[string]struct {
		socket, fields string
		want           []string
	}{
		"no socket":      {filepath.Join(t.TempDir(), "s"), "", []string{"there is no socket", "PodsAPI", "--socket"}},
		"no listener":    {dead, "", []string{"no process listens", "start it again"}},
		"a file":         {plain, "", []string{"is not a socket"}},
		"initializing":   {serve(t, false, server.Config{}).Socket(), "", []string{"initializing", "try again"}},
		"turned off":     {serve(t, true, server.Config{Disabled: true}).Socket(), "", []string{"doesn't serve the Pods API"}},
		"a newer mask":   {serveMaskless(t, status.Error(codes.InvalidArgument, "no such field")), "metadata.name", []string{`refuses the field mask "metadata.name" (no such field)`}},
		"too often":      {serveMaskless(t, status.Error(codes.ResourceExhausted, "slow down")), "", []string{"rate limit of the node", "slow down", "use watch"}},
		"something else": {serveMaskless(t, status.Error(codes.Internal, "boom")), "", []string{"ListPods", "boom"}},
	} {
		_, err := open(t, tc.socket, tc.fields).List(t.Context())
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v, want %q", name, err, want)
			}
		}
	}
	err = open(t, serveMaskless(t, status.Error(codes.ResourceExhausted, "closed")), "").Watch(t.Context(), func(Event) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "read faster") {
		t.Errorf("a watch that is too slow: %v", err)
	}
	if err := open(t, serveMaskless(t, nil), "").Watch(t.Context(), func(Event) error { return nil }); err == nil || !strings.Contains(err.Error(), "ended the watch") {
		t.Errorf("a watch that ends: %v", err)
	}
}

// TestYourOwnSocketIsClosed covers the error for the owner of a socket. A test of the command
// line covers the error for another user.
func TestYourOwnSocketIsClosed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may connect anywhere")
	}
	s := serve(t, true, server.Config{})
	if err := os.Chmod(filepath.Dir(s.Socket()), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Dir(s.Socket()), 0o700) }) // so that it can be removed
	if _, err := open(t, s.Socket(), "").List(t.Context()); err == nil || !strings.Contains(err.Error(), "chmod u+rwx "+filepath.Dir(s.Socket())) {
		t.Errorf("the error is %v", err)
	}
}

func TestABadMaskIsNotSent(t *testing.T) {
	t.Parallel()
	if _, err := Open("/nowhere", "metadata.nam,spec.nonsense"); err == nil || !strings.Contains(err.Error(), `did you mean "name"`) || !strings.Contains(err.Error(), "spec.nonsense") {
		t.Errorf("the error is %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if _, err := Find(root); err == nil || !strings.Contains(err.Error(), filepath.Join(root, "pods-api")) || !strings.Contains(err.Error(), filepath.Join(root, "pods", "kubelet.sock")) {
		t.Errorf("the error is %v", err)
	}
	for _, place := range []string{"pods-api/pods-api.sock", "pods/kubelet.sock"} {
		path := filepath.Join(root, place)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), fs.ModePerm), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(root); err != nil || got != path {
			t.Errorf("found %q, error %v, want %s", got, err, path)
		}
	}
}
