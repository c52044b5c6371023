// Package webhook is a fake admission webhook, whose answers can be changed while it runs
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/).
package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/record"
)

// Behavior is what a webhook answers. The zero Behavior allows everything as it is.
type Behavior struct {
	// Patch is a JSON patch (RFC 6902) of the object. If unset, none is.
	Patch []jsonpatch.Operation
	// Rewrite returns the object as it is to be, as a webhook does that reads it into its own
	// types and writes these. If unset, the object stays as it is.
	Rewrite func(ctx context.Context, object []byte) ([]byte, error)
	// Refusal is the message with which everything is refused. If unset, nothing is.
	Refusal string
	// Delay is how long each answer takes. If unset, no time.
	Delay time.Duration
	// Away has connections end without an answer.
	Away bool
}

// Config is what a webhook is.
type Config struct {
	Name string
	// Host is the address at which it listens, on a port that is free, and Certificate is what it
	// shows there.
	Host        string
	Certificate tls.Certificate
	Recorder    record.Recorder
}

// Server is a webhook that listens. API servers that ask at MarkPath, and no other path, are
// answered whatever the behavior is.
type Server struct {
	cfg      Config
	http     http.Server
	listener net.Listener
	work     sync.WaitGroup
	behavior atomic.Pointer[Behavior]

	mu    sync.Mutex
	marks map[string]bool
}

// MarkPath begins the paths by which it is known which configuration an API server has: see
// Marked.
const MarkPath = "/mark/"

// Start has a webhook listen.
func Start(cfg Config) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(cfg.Host, "0"))
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, listener: listener, marks: make(map[string]bool)}
	s.Set(Behavior{})
	s.http = http.Server{
		Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cfg.Certificate}, MinVersion: tls.VersionTLS12},
	}
	s.work.Go(func() { _ = s.http.ServeTLS(listener, "", "") }) // until it is closed
	return s, nil
}

// URL is where API servers ask.
func (s *Server) URL() string { return "https://" + s.listener.Addr().String() }

// Set changes what the webhook answers from now on.
func (s *Server) Set(b Behavior) { s.behavior.Store(&b) }

// Marked reports whether an API server has asked at the path of a mark.
func (s *Server) Marked(mark string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marks[mark]
}

// Forget forgets that an API server has asked at a mark.
func (s *Server) Forget(mark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.marks, mark)
}

// Close ends the webhook, and what it is being asked.
func (s *Server) Close() error {
	err := s.http.Close()
	s.work.Wait()
	return err
}

// maxReview bounds a review, in bytes. API servers accept objects of up to 3 MB, and a review
// may have two.
const maxReview = 16 << 20

// ServeHTTP answers a review.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(io.LimitReader(r.Body, maxReview)).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "this is no AdmissionReview", http.StatusBadRequest)
		return
	}
	if dir, mark := path.Split(r.URL.Path); dir == MarkPath {
		s.mu.Lock()
		s.marks[mark] = true
		s.mu.Unlock()
		answer(w, review, &admissionv1.AdmissionResponse{Allowed: true})
		return
	}
	began := time.Now()
	call := called(review.Request)
	response, err := s.respond(r.Context(), review.Request, &call)
	call.Seconds = time.Since(began).Seconds()
	if err != nil {
		call.Error = err.Error()
		s.cfg.Recorder.Append("webhook", s.cfg.Name, call)
		panic(http.ErrAbortHandler) //nolint:forbidigo // that is how a handler ends a connection without an answer
	}
	s.cfg.Recorder.Append("webhook", s.cfg.Name, call)
	answer(w, review, response)
}

// called is what is recorded of a request.
func called(r *admissionv1.AdmissionRequest) record.WebhookCalled {
	return record.WebhookCalled{
		Operation: string(r.Operation), Object: path.Join(r.Resource.Resource, r.Namespace, r.Name), Subresource: r.SubResource,
		User: r.UserInfo.Username, DryRun: r.DryRun != nil && *r.DryRun, Patch: []string{},
	}
}

var errAway = errors.New("the webhook is away")

// respond is what the webhook answers, which goes into the record too.
func (s *Server) respond(ctx context.Context, r *admissionv1.AdmissionRequest, call *record.WebhookCalled) (*admissionv1.AdmissionResponse, error) {
	b := s.behavior.Load()
	if b.Away {
		return nil, errAway
	}
	select {
	case <-time.After(b.Delay):
	case <-ctx.Done():
		return nil, errors.New("the API server did not wait for the answer")
	}
	if b.Refusal != "" {
		call.Message = b.Refusal
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: b.Refusal, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}}, nil
	}
	operations, err := b.change(ctx, r.Object.Raw)
	if err != nil {
		return nil, err
	}
	call.Allowed = true
	response := &admissionv1.AdmissionResponse{Allowed: true}
	if len(operations) == 0 {
		return response, nil
	}
	for _, o := range operations {
		call.Patch = append(call.Patch, o.Operation+" "+o.Path)
	}
	response.PatchType = new(admissionv1.PatchTypeJSONPatch)
	response.Patch, err = json.Marshal(operations)
	return response, err
}

// change is the JSON patch that is to be made of an object.
func (b *Behavior) change(ctx context.Context, object []byte) ([]jsonpatch.Operation, error) {
	if b.Rewrite == nil || len(object) == 0 {
		return b.Patch, nil
	}
	after, err := b.Rewrite(ctx, object)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreatePatch(object, after)
}

func answer(w http.ResponseWriter, review admissionv1.AdmissionReview, response *admissionv1.AdmissionResponse) {
	response.UID = review.Request.UID
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // who doesn't listen has gone
}
