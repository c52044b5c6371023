// Package server is a reference server of the kubelet's Pods API (KEP-4188):
// pods of one node, over gRPC on a unix socket, in the released wire format
// (k8s.io/kubelet/pkg/apis/pods/v1alpha1). It does all that the proposal asks
// for, field masks included, which released kubelets don't have. It is there to
// compare kubelets with, and to write agents against; it can delay answers and
// break watches, and reports what each client did and what it missed.
//
// # Field masks
//
// A client sends a mask as metadata under mask.MetadataKey, with any of the methods;
// package mask says what it may be. A bad one is InvalidArgument, whatever the
// state of the node is, because no state of the node makes it good.
//
// # Watches
//
// A watch begins with Added for each pod there is, by UID, and the event
// InitialSyncComplete without a pod. From there on there is nothing twice and no
// gap: the last state of a pod is always sent, the states in between need not be. A
// slow watcher gets the latest only; of a pod that came and went in the meantime,
// nothing; of one that went and came back with the same UID, as static pods do,
// Modified. A change that the
// mask doesn't show is not an event. Deleted has the name, the namespace and the
// UID as far as the mask has them, and the UID in any case.
//
// # Limits
//
// A full list of many pods is larger than the 4 MiB that a gRPC client takes by
// default: it needs grpc.MaxCallRecvMsgSize, or a mask.
package server

import (
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

const (
	// maxRequestBytes is the largest request: the only one that isn't empty has a
	// UID. A larger one is ResourceExhausted.
	maxRequestBytes = 16 << 10
	// maxHeaderBytes has room for a mask that is too long, so that the answer says
	// so, and for little else.
	maxHeaderBytes = 32 << 10
	// maxStreams is how many calls a connection may have open. More wait in the
	// client.
	maxStreams = 100
)

const (
	// A kubelet has these limits for each of its gRPC APIs: calls a second from all
	// clients together, where a watch counts once, and calls at once.
	maxQPS   = 100
	maxBurst = 10
)

// Config says where to serve.
type Config struct {
	// Socket is the path of the socket, at most 107 bytes. A kubelet's is
	// /var/lib/kubelet/pods/kubelet.sock. Its directory is made with the mode 0700
	// if it is missing.
	Socket string
	// Open has the server take any number of calls, from every user who can connect.
	// If unset, it takes 100 calls a second, 10 at once, and only from root and the
	// user who runs the server.
	Open bool
	// Disabled has every call be Unimplemented, as if a feature gate were off.
	Disabled bool
}

// Server serves the Pods API on a socket. Its methods are safe for concurrent
// use, and none of them waits for a client.
type Server struct {
	config  Config
	store   *store
	clients *clients
	limiter *rate.Limiter
	disturb atomic.Pointer[disturbing]
	grpc    *grpc.Server
	guard   *guard
	running sync.WaitGroup
}

// Listen opens the socket and serves it until Close is called. The node has no
// pods and isn't ready: until SetReady, every call is FailedPrecondition. The
// error says what is wrong with the socket's path or directory, or with what is at
// the path already: only a socket that no process serves is replaced.
func Listen(config Config) (*Server, error) {
	listener, err := listen(config.Socket)
	if err != nil {
		return nil, fmt.Errorf("serving the Pods API: %w", err)
	}
	store := newStore()
	s := &Server{
		config:  config,
		store:   store,
		clients: newClients(store),
		limiter: rate.NewLimiter(maxQPS, maxBurst),
	}
	if config.Open {
		s.limiter.SetLimit(rate.Inf)
	}
	s.disturb.Store(newDisturbing(Disturbance{}))
	s.guard = newGuard(listener, config.Open, s.clients)
	s.grpc = newGRPC(s)
	s.running.Go(func() {
		// It ends when it is stopped, and nothing else can go wrong.
		_ = s.grpc.Serve(s.guard)
	})
	return s, nil
}

func newGRPC(s *Server) *grpc.Server {
	server := grpc.NewServer(
		grpc.Creds(callers{}),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.StatsHandler(s.clients),
		grpc.UnaryInterceptor(s.admitCall),
		grpc.StreamInterceptor(s.admitStream),
		grpc.UnknownServiceHandler(s.unknown),
		grpc.WaitForHandlers(true),
	)
	if !s.config.Disabled {
		pods.RegisterPodsServer(server, &service{Server: s})
	}
	return server
}

// Socket returns the path of the socket.
func (s *Server) Socket() string { return s.config.Socket }

// Close removes the socket and ends every call and watch, with Unavailable. When
// it returns, no goroutine is left. It may be called more than once, and what
// Clients and Metrics return stays.
func (s *Server) Close() error {
	s.store.close(status.Error(codes.Unavailable, "the server of the Pods API is closing"))
	s.grpc.Stop()
	s.running.Wait()
	return nil
}

// Set adds pods to the node, or replaces what they were, by their UIDs. What is
// set at once is served at once: no list has only part of it. The error names a pod
// that has no UID or can't be marshalled; then, none of them is set.
func (s *Server) Set(pods ...*corev1.Pod) error {
	states := make([]*pod, len(pods))
	for i, p := range pods {
		state, err := encode(p)
		if err != nil {
			return fmt.Errorf("setting pods: %w", err)
		}
		states[i] = state
	}
	s.store.set(states)
	return nil
}

// Remove takes pods off the node. UIDs of no pod are ignored.
func (s *Server) Remove(uids ...types.UID) { s.store.remove(uids) }

// SetReady says whether the node knows all of its pods. While it doesn't, every
// call is FailedPrecondition; when it doesn't any more, open watches end with
// that, too.
func (s *Server) SetReady(ready bool) { s.store.setReady(ready) }

// Refused returns how many connections were closed because of who made them.
func (s *Server) Refused() int64 { return s.guard.refused.Load() }
