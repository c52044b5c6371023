package engine

import (
	"context"
	"net/http"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// exchange is what an API server answered to the last request of a context, besides an object.
type exchange struct {
	mu       sync.Mutex
	code     int
	warnings []string
}

type exchangeKey struct{}

// withExchange returns a context for the requests of one answer. Warnings are those of the request that got them: those of
// requests of other contexts are not among them, nor those of requests that it took before the last one.
func withExchange(ctx context.Context) (context.Context, *exchange) {
	e := new(exchange)
	return context.WithValue(ctx, exchangeKey{}, e), e
}

// heard takes a response into account.
func (e *exchange) heard(resp *http.Response) {
	warnings, _ := utilnet.ParseWarningHeaders(resp.Header["Warning"]) // what is malformed is no warning
	e.mu.Lock()
	defer e.mu.Unlock()
	e.code, e.warnings = resp.StatusCode, nil
	for _, w := range warnings {
		e.warnings = append(e.warnings, w.Text)
	}
}

// answer is the code and the warnings of the last response.
func (e *exchange) answer() (code int, warnings []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.code, e.warnings
}

// hearing notes responses in the exchange of their request's context.
type hearing struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (h hearing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(req)
	if e, is := req.Context().Value(exchangeKey{}).(*exchange); is && err == nil {
		e.heard(resp)
	}
	return resp, err
}
