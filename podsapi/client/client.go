// Package client is a client of the Pods API that kubelets serve on a unix
// socket (KEP-4188), as a node agent has one. It says what it was answered and
// how: codes and bytes, and nothing made up where there was no answer.
package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/skewrig/skewrig/podsapi/mask"
	"github.com/skewrig/skewrig/record"
)

// The methods of the API.
const (
	ListPods  = "ListPods"
	GetPod    = "GetPod"
	WatchPods = "WatchPods"
)

// maxAnswer is how many bytes an answer may have: a node's pods, however many.
const maxAnswer = 256 << 20

// Client asks one socket. It connects when it is asked for something.
type Client struct {
	conn *grpc.ClientConn
	pods v1alpha1.PodsClient
}

// Dial returns a client of a socket, which need not be there yet.
func Dial(socket string) (*Client, error) {
	return dial(socket, func() string { return socket })
}

// DialIn returns a client of the kubelet with a directory. Each time it connects, it
// finds the socket anew: a kubelet that starts has none yet.
func DialIn(root string) (*Client, error) {
	return dial(root, func() string {
		socket, _ := Find(root)
		return socket
	})
}

func dial(name string, find func() string) (*Client, error) {
	conn, err := grpc.NewClient("unix:"+name,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", find())
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// Large windows would hide that a client does not read.
		grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("the socket %s: %w", name, err)
	}
	return &Client{conn: conn, pods: v1alpha1.NewPodsClient(conn)}, nil
}

// Close ends the client, and what it watches.
func (c *Client) Close() error { return c.conn.Close() }

// Request is what is asked for.
type Request struct {
	// Method is ListPods, GetPod or WatchPods.
	Method string
	// UID is that of the pod that GetPod is to return.
	UID string
	// Fields is a field mask. If unset, none is sent.
	Fields string
	// Service is the full name of the gRPC service. If unset, that of v1alpha1.
	Service string
}

// path is what is called.
func (r Request) path() string {
	return "/" + cmp.Or(r.Service, v1alpha1.Pods_ServiceDesc.ServiceName) + "/" + r.Method
}

// Ask lists or gets pods, or opens a watch and ends it after the first event. That
// it was refused is part of the answer.
func (c *Client) Ask(ctx context.Context, r Request) record.PodsAnswer {
	if r.Method == WatchPods {
		return answer(r, nil, c.open(ctx, r.Fields))
	}
	encoded, err := c.Raw(ctx, r)
	return answer(r, encoded, err)
}

// Raw lists or gets pods and returns them as they came, encoded, in the order of
// the answer. The error has the gRPC status with which it was refused.
func (c *Client) Raw(ctx context.Context, r Request) ([][]byte, error) {
	c.now()
	switch r.Method {
	case ListPods:
		list := new(v1alpha1.ListPodsResponse)
		err := c.conn.Invoke(masked(ctx, r.Fields), r.path(), &v1alpha1.ListPodsRequest{}, list)
		return list.GetPods(), err
	case GetPod:
		got := new(v1alpha1.GetPodResponse)
		if err := c.conn.Invoke(masked(ctx, r.Fields), r.path(), &v1alpha1.GetPodRequest{PodUID: r.UID}, got); err != nil {
			return nil, err
		}
		return [][]byte{got.GetPod()}, nil
	default:
		return nil, status.Errorf(codes.Unimplemented, "there is no method %s", r.Method)
	}
}

// Watch calls handle with each event of a watch until it ends, and returns how it
// did. It reads the next event when handle has returned.
func (c *Client) Watch(ctx context.Context, fields string, handle func(record.PodsEvent)) record.PodsEnded {
	err := c.RawWatch(ctx, fields, func(kind string, pod []byte) error {
		e := record.PodsEvent{Type: kind}
		if len(pod) > 0 {
			e.Pod = decode(pod)
		}
		handle(e)
		return nil
	})
	return record.PodsEnded{Code: status.Code(err).String(), Message: status.Convert(err).Message()}
}

// RawWatch calls handle with each event of a watch: its type and the pod as it came,
// which is empty if there was none. It returns when the watch ends, with nil if the
// server ended it in good order, or when handle returns an error, with that one.
func (c *Client) RawWatch(ctx context.Context, fields string, handle func(kind string, pod []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.now()
	stream, err := c.pods.WatchPods(masked(ctx, fields), &v1alpha1.WatchPodsRequest{})
	for err == nil {
		var e *v1alpha1.WatchPodsEvent
		if e, err = stream.Recv(); err == nil {
			err = handle(e.GetType().String(), e.GetPod())
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// errOpened ends a watch that was only to be opened.
var errOpened = errors.New("it is open")

// open opens a watch, and ends it when something came. The error is io.EOF if
// nothing did.
func (c *Client) open(ctx context.Context, fields string) error {
	err := c.RawWatch(ctx, fields, func(string, []byte) error { return errOpened })
	switch {
	case errors.Is(err, errOpened):
		return nil
	case err == nil:
		return io.EOF
	default:
		return err
	}
}

// now makes the next call connect at once, also after a failed attempt: a call asks whether
// a server answers at this moment.
func (c *Client) now() { c.conn.ResetConnectBackoff() }

func masked(ctx context.Context, fields string) context.Context {
	if fields == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, mask.MetadataKey, fields)
}

func answer(r Request, encoded [][]byte, err error) record.PodsAnswer {
	a := record.PodsAnswer{Method: r.Method, Code: status.Code(err).String(), List: []json.RawMessage{}}
	if err != nil {
		a.Message = status.Convert(err).Message()
		return a
	}
	for _, text := range encoded {
		a.Bytes += len(text)
		a.List = append(a.List, decode(text))
	}
	return a
}

// Unreadable is the field of what is shown in place of a pod that can't be
// decoded. Its value says why.
const Unreadable = "unreadable"

// decode shows a pod as it is written in JSON. One that can't be read is shown,
// too, and as nothing else.
func decode(encoded []byte) json.RawMessage {
	var pod corev1.Pod
	err := pod.Unmarshal(encoded)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(&pod); err == nil {
			return text
		}
	}
	text, _ := json.Marshal(map[string]string{Unreadable: err.Error()})
	return text
}
