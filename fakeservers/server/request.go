package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
)

const (
	// maxRequests is how many requests of a connection are recorded.
	maxRequests = 256
	// maxListed bounds every list in a record: headers of a request, values of
	// a header, protocols of a ClientHello.
	maxListed = 64
	// maxText bounds every text in a record that a client chose.
	maxText = 512
)

// cut returns text as it is recorded: valid UTF-8 of a bounded length.
func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// newRequest returns what is recorded of an HTTP request.
func newRequest(r *http.Request) record.Request {
	return record.Request{
		Method:    cut(r.Method),
		Path:      cut(r.RequestURI),
		Proto:     cut(r.Proto),
		Host:      cut(r.Host),
		UserAgent: cut(r.UserAgent()),
		Headers:   boundHeaders(r.Header),
	}
}

// boundHeaders returns the first headers by name. The user agent has a field
// of its own, and gRPC's names are in lower case.
func boundHeaders(headers map[string][]string) map[string][]string {
	bounded := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if len(bounded) == maxListed {
			break
		}
		if strings.EqualFold(name, "User-Agent") {
			continue
		}
		for _, value := range headers[name][:min(len(headers[name]), maxListed)] {
			bounded[cut(name)] = append(bounded[cut(name)], cut(value))
		}
	}
	return bounded
}

type connKey struct{}

// withConn makes the connection known to the handlers of its requests.
func withConn(ctx context.Context, c *conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// recorded returns a handler that records each request and its answer on its
// way through next.
func recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r.Context())
		request := c.begin(newRequest(r))
		if request == nil {
			return
		}
		answer := &answerWriter{ResponseWriter: w}
		defer c.done(request, func(taken *record.Request) {
			taken.Status = answer.status
			taken.BodyBytes = answer.body
			taken.Location = cut(answer.Header().Get("Location"))
		})
		next.ServeHTTP(answer, r)
		// net/http sends this status if a handler says nothing, and
		// the connection is open.
		if answer.status == 0 && r.Context().Err() == nil && c.isOpen() {
			answer.status = http.StatusOK
		}
	})
}

// answerWriter takes down the answer to a request.
type answerWriter struct {
	http.ResponseWriter
	status int
	body   int64
}

// WriteHeader sends the status. One below 200 is not the answer yet.
func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *answerWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.body += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find what the server's own writer can
// do.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
