// Package webhook has fake webhooks, whose answers can be changed while they run: for admission
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/), and
// for the conversion of custom resources
// (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/).
package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
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
	listener

	cfg      Config
	behavior atomic.Pointer[Behavior]

	mu    sync.Mutex
	marks map[string]bool
}

// MarkPath begins the paths by which it is known which configuration an API server has: see
// Marked.
const MarkPath = "/mark/"

// Start has a webhook listen.
func Start(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, marks: make(map[string]bool)}
	s.Set(Behavior{})
	return s, s.listen(cfg, s)
}

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

// respond is what the webhook answers, which goes into the record too.
func (s *Server) respond(ctx context.Context, r *admissionv1.AdmissionRequest, call *record.WebhookCalled) (*admissionv1.AdmissionResponse, error) {
	b := s.behavior.Load()
	if err := answers(ctx, b.Away, b.Delay); err != nil {
		return nil, err
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
	call.Patch = described(operations)
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
	write(w, review)
}

// described are operations as they are recorded.
func described(operations []jsonpatch.Operation) []string {
	all := []string{}
	for _, o := range operations {
		all = append(all, o.Operation+" "+o.Path)
	}
	return all
}
