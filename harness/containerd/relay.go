package containerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/harness/unixsocket"
	"github.com/skewrig/skewrig/record"
)

// maxMessage is the largest message that passes, in bytes: the limit of the kubelet's own client
// (k8s.io/cri-client/pkg/utils.go).
const maxMessage = 16 << 20

// relay is the way of a kubelet's calls to containerd. It passes all methods of all releases as
// they are, records what those do that make containers, and can have the faults of a link. It
// answers itself what is about images: none comes from a registry.
type relay struct {
	*ledger
	link   *link.Calls
	server *grpc.Server
	conn   *grpc.ClientConn
	served chan error
}

// newRelay serves at a socket, in front of the containerd that it connects to.
func newRelay(config RelayConfig) (_ *relay, err error) {
	r := &relay{link: link.NewCalls(config.Name, config.Recorder), served: make(chan error, 1)}
	r.conn, err = grpc.NewClient("passthrough:///containerd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return config.Dial(ctx) }),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, MaxDelay: 200 * time.Millisecond}}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, err
	}
	r.ledger = newLedger(config.Name, config.Output, config.Recorder, cri.NewRuntimeServiceClient(r.conn), cri.NewImageServiceClient(r.conn))
	r.load, r.up, r.mounts = config.Load, config.Up, config.Mounts
	r.server = grpc.NewServer(
		grpc.ForceServerCodecV2(asItIs{}), grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.StreamInterceptor(r.link.Stream), grpc.UnknownServiceHandler(r.pass), grpc.WaitForHandlers(true))
	listener, err := unixsocket.Listen(config.Socket)
	if err != nil {
		return nil, errors.Join(err, r.conn.Close())
	}
	go func() { r.served <- r.server.Serve(r.link.Listener(listener)) }()
	return r, nil
}

// end ends all calls, and looks for no more ends of containers.
func (r *relay) end() error {
	r.shut()
	r.server.Stop()
	err := <-r.served
	if errors.Is(err, grpc.ErrServerStopped) {
		err = nil
	}
	return errors.Join(err, r.link.Set(record.LinkFault{}), r.conn.Close())
}

// pass passes a call, which has one request and any number of answers.
func (r *relay) pass(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var request []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	watched, err := r.watch(ctx, method, request)
	if err != nil {
		return err
	}
	if watched.answer != nil {
		return stream.SendMsg(watched.answer)
	}
	if watched.request != nil {
		request = watched.request
	}
	onward, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, grpc.ForceCodecV2(asItIs{}))
	if err == nil {
		err = errors.Join(onward.SendMsg(request), onward.CloseSend())
	}
	for err == nil {
		var answer []byte
		if err = onward.RecvMsg(&answer); err != nil {
			break
		}
		watched.done(ctx, answer, nil)
		if err := stream.SendMsg(answer); err != nil {
			return err
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	watched.done(ctx, nil, err)
	return err
}

// asItIs is the codec of messages that are passed as they are: []byte to send, *[]byte to receive.
type asItIs struct{}

// Name implements encoding.CodecV2.
func (asItIs) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (asItIs) Marshal(v any) (mem.BufferSlice, error) {
	message, is := v.([]byte)
	if !is {
		return nil, fmt.Errorf("sending a %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(message)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (asItIs) Unmarshal(data mem.BufferSlice, v any) error {
	message, is := v.(*[]byte)
	if !is {
		return fmt.Errorf("receiving a %T", v)
	}
	*message = data.Materialize()
	return nil
}
