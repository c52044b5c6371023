package server

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

func TestOnlyAllowedUsersGetIn(t *testing.T) {
	t.Parallel()
	someone := os.Geteuid() + 4711
	for name, test := range map[string]struct {
		who     credential
		err     error
		open    bool
		allowed bool
	}{
		"root":               {who: credential{uid: 0}, allowed: true},
		"own user":           {who: credential{uid: os.Geteuid()}, allowed: true},
		"another user":       {who: credential{uid: someone}},
		"an open server":     {who: credential{uid: someone}, open: true, allowed: true},
		"who can't be asked": {err: errors.New("no idea")},
		"an unknown, open":   {err: errors.New("no idea"), open: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := listen(filepath.Join(socketDir(t), "s"))
			if err != nil {
				t.Fatal(err)
			}
			g := newGuard(listener, test.open, newClients(newStore()))
			g.identify = func(net.Conn) (credential, error) { return test.who, test.err }
			conn, err := net.Dial("unix", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if test.allowed {
				if accepted, err := g.Accept(); err != nil {
					t.Error(err)
				} else {
					accepted.Close()
				}
			} else {
				go func() { _, _ = g.Accept() }()
				if n, err := conn.Read(make([]byte, 1)); err == nil {
					t.Errorf("read %d bytes, want a closed connection", n)
				}
			}
			listener.Close()
			if got := g.refused.Load() == 0; got != test.allowed {
				t.Errorf("let in: %t, want %t", got, test.allowed)
			}
		})
	}
}

func TestCredentialIsTheKernels(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	if _, err := g.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil {
		t.Fatal(err)
	}
	c := g.client(t, 0)
	if c.PID != os.Getpid() || c.UID != os.Geteuid() || c.ID != 1 || c.Connected.IsZero() {
		t.Errorf("client %+v, want process %d of user %d", c, os.Getpid(), os.Geteuid())
	}
}

func TestRefusedClientsAreUnavailable(t *testing.T) {
	t.Parallel()
	listener, err := listen(filepath.Join(socketDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	store := newStore()
	s := &Server{config: Config{Socket: listener.Addr().String()}, store: store, clients: newClients(store)}
	s.disturb.Store(newDisturbing(Disturbance{}))
	s.guard = newGuard(listener, false, s.clients)
	s.guard.identify = func(net.Conn) (credential, error) { return credential{uid: os.Geteuid() + 1}, nil }
	s.grpc = newGRPC(s)
	s.running.Go(func() { _ = s.grpc.Serve(s.guard) })
	defer s.Close()
	client := pods.NewPodsClient((&rig{Server: s}).connect(t))
	_, err = client.ListPods(t.Context(), &pods.ListPodsRequest{})
	wantCode(t, err, codes.Unavailable)
	if s.Refused() == 0 || len(s.Clients()) != 0 {
		t.Errorf("%d refused and %d clients, want some and none", s.Refused(), len(s.Clients()))
	}
}
