package server

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// grpcPlayer serves the gRPC health service, with or without TLS. It is
// grpc-go's server, with credentials that record the handshake.
type grpcPlayer struct {
	grpc  *grpc.Server
	queue *queue
}

func newGRPCPlayer(s *Server, secure *tls.Config) *grpcPlayer {
	p := &grpcPlayer{queue: newQueue(s.listener.Addr())}
	p.grpc = grpc.NewServer(
		grpc.Creds(handshaker{s, secure}),
		grpc.WaitForHandlers(true),
		grpc.UnaryInterceptor(recordCall),
		grpc.StreamInterceptor(recordStream),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			method, _ := grpc.MethodFromServerStream(stream)
			return unknownService(method)
		}),
	)
	healthpb.RegisterHealthServer(p.grpc, &healthService{Server: s})
	s.running.Go(func() {
		// It ends when it is stopped, and nothing else can go wrong.
		_ = p.grpc.Serve(p.queue)
	})
	return p
}

func (p *grpcPlayer) play(c *conn) { _ = p.queue.push(c) }

func (p *grpcPlayer) close() { p.grpc.Stop() }

// unknownService is grpc-go's answer for a service that isn't registered.
func unknownService(method string) error {
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	return status.Errorf(codes.Unimplemented, "unknown service %v", service)
}

// handshaker are the credentials of a server that records its handshakes. It
// does what grpc-go's own TLS credentials do.
type handshaker struct {
	*Server
	secure *tls.Config
}

// errNoALPN is why grpc-go refuses a client that doesn't negotiate a protocol.
var errNoALPN = errors.New("the client offers no ALPN protocol, and gRPC requires h2")

// ServerHandshake takes a connection on.
func (h handshaker) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	c, ok := raw.(*conn)
	if !ok || !c.hold() {
		return nil, nil, net.ErrClosed
	}
	defer c.release()
	raw, encrypted, err := h.encrypted(c)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	if !encrypted {
		return raw, carrier{c: c}, nil
	}
	inner, err := h.handshake(raw, h.secure)
	if err == nil && inner.ConnectionState().NegotiatedProtocol == "" {
		err = errNoALPN
	}
	c.shook(inner.ConnectionState(), err)
	if err != nil {
		return nil, nil, errors.Join(err, inner.Close())
	}
	return &secureConn{Conn: inner, outer: c}, carrier{c: c, secure: true}, nil
}

// ClientHandshake is not for servers.
func (handshaker) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.ErrUnsupported
}

// Info names the security protocol.
func (h handshaker) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: carrier{secure: h.secure != nil}.AuthType()}
}

// Clone returns a copy.
func (h handshaker) Clone() credentials.TransportCredentials { return h }

// OverrideServerName is for clients.
func (handshaker) OverrideServerName(string) error { return nil }

// carrier has the connection of a call for its handler.
type carrier struct {
	c      *conn
	secure bool
}

// AuthType names the security protocol.
func (a carrier) AuthType() string {
	if a.secure {
		return "tls"
	}
	return "insecure"
}

func callConn(ctx context.Context) *conn {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, _ := from.AuthInfo.(carrier)
	return info.c
}

// recordCall records a call with one request and one response.
func recordCall(ctx context.Context, in any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	var out any
	request := newCall(ctx, info.FullMethod)
	if check, ok := in.(*healthpb.HealthCheckRequest); ok {
		service := cut(check.GetService())
		request.Service = &service
	}
	err := recordAnswer(withConn(ctx, callConn(ctx)), request, func(ctx context.Context) (serving, error) {
		var err error
		out, err = handle(ctx, in)
		answer, _ := out.(*healthpb.HealthCheckResponse)
		return answer.GetStatus(), err
	})
	return out, err
}

// recordStream records a call of any other kind, which is not answered.
func recordStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ctx := withConn(stream.Context(), callConn(stream.Context()))
	return recordAnswer(ctx, newCall(ctx, info.FullMethod), func(context.Context) (serving, error) {
		return 0, handle(service, stream)
	})
}

type serving = healthpb.HealthCheckResponse_ServingStatus

func recordAnswer(ctx context.Context, request record.Request, handle func(context.Context) (serving, error)) error {
	c := connOf(ctx)
	taken := c.begin(request)
	if taken == nil {
		return status.Error(codes.Unavailable, "the server is closing")
	}
	health, err := handle(ctx)
	answered := ctx.Err() == nil && c.isOpen()
	c.done(taken, func(taken *record.Request) {
		if !answered {
			return
		}
		taken.Status = http.StatusOK
		taken.GRPCStatus = code.Code(status.Code(err)).String()
		if err == nil {
			taken.Health = behavior.ServingStatus(health.String())
		}
	})
	return err
}

func newCall(ctx context.Context, method string) record.Request {
	headers, _ := metadata.FromIncomingContext(ctx)
	headers = headers.Copy()
	request := record.Request{
		Method:    http.MethodPost,
		Path:      cut(method),
		Proto:     "HTTP/2.0",
		Host:      cut(strings.Join(headers.Get(":authority"), ",")),
		UserAgent: cut(strings.Join(headers.Get("user-agent"), ",")),
	}
	maps.DeleteFunc(headers, func(name string, _ []string) bool { return strings.HasPrefix(name, ":") })
	request.Headers = boundHeaders(headers)
	return request
}

// errUnanswered is for grpc-go only: no client waits for the answer any more.
var errUnanswered = status.Error(codes.Canceled, "unanswered")

// healthService answers health checks as the program or the phases have it.
// Watch and List are not implemented: no probe calls them.
type healthService struct {
	healthpb.UnimplementedHealthServer
	*Server
}

// Check answers one health check.
func (h *healthService) Check(ctx context.Context, in *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	if h.config.Health != nil {
		status, err := h.config.Health(in.GetService())
		return response(status), err
	}
	return h.check(ctx, in.GetService(), h.phase())
}

func (h *healthService) check(ctx context.Context, service string, phase behavior.Phase) (*healthpb.HealthCheckResponse, error) {
	if !h.wait(ctx, time.Duration(phase.Delay)) {
		return nil, errUnanswered
	}
	switch phase.Fault {
	case "":
	case behavior.StallAfterHeaders:
		if err := grpc.SendHeader(ctx, nil); err != nil {
			return nil, err
		}
		fallthrough
	default:
		h.requestFault(ctx, phase.Fault)
		return nil, errUnanswered
	}
	answer := behavior.Health{}
	if phase.GRPC != nil {
		answer = *phase.GRPC
	}
	return checkAnswer(answer, service)
}

func checkAnswer(answer behavior.Health, service string) (*healthpb.HealthCheckResponse, error) {
	services := answer.Services
	switch {
	case answer.Unimplemented:
		return nil, unknownService(healthpb.Health_ServiceDesc.ServiceName)
	case answer.Code != "":
		return nil, status.Error(codes.Code(code.Code_value[string(answer.Code)]), answer.Message)
	case len(services) == 0:
		services = map[string]behavior.ServingStatus{"": behavior.Serving}
	}
	health, found := services[service]
	if !found {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	return response(health), nil
}

func response(health behavior.ServingStatus) *healthpb.HealthCheckResponse {
	number := healthpb.HealthCheckResponse_ServingStatus_value[string(health)]
	return &healthpb.HealthCheckResponse{Status: serving(number)}
}
