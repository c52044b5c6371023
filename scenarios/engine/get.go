package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
)

// Get implements action.Rig.
func (r *run) Get(ctx context.Context, g action.Get) error {
	body, code, err := r.get(ctx, g.Component, r.session.Names().Path(g.Path), g.Accept)
	if g.Code != 0 {
		again, cancel := r.machine.WithTimeout(ctx, time.Duration(g.Within), fmt.Errorf("not within %s", g.Within))
		defer cancel()
		for err == nil && code != g.Code && r.Wait(again, "", betweenAsks) == nil {
			body, code, err = r.get(ctx, g.Component, r.session.Names().Path(g.Path), g.Accept)
		}
	}
	if err != nil {
		return fmt.Errorf("getting %s of %s: %w", g.Path, g.Component, err)
	}
	r.history.Append("engine", r.current.Name, gotten(g.Path, code, body))
	return nil
}

// maxAnswer bounds an answer, in bytes, and answerLimit how long one may take: a watch never ends.
const (
	maxAnswer   = 64 << 20
	answerLimit = time.Minute
)

// betweenAsks is how long a component is left alone before it is asked again.
const betweenAsks = 50 * time.Millisecond

// gotten is an answer as it is recorded: what is not JSON is text.
func gotten(path string, code int, body []byte) record.APIAnswer {
	answer := record.APIAnswer{Path: path, Code: code, Bytes: len(body), Response: string(body)}
	if json.Valid(body) {
		answer.Response = json.RawMessage(body)
	}
	var refusal metav1.Status
	if json.Unmarshal(body, &refusal) == nil && refusal.Kind == "Status" {
		answer.Reason, answer.Message = string(refusal.Reason), refusal.Message
	}
	return answer
}

// get asks a component for what is at a path, in one of the media types that it may be in.
func (r *run) get(ctx context.Context, component, path, accept string) (body []byte, code int, err error) {
	endpoint, err := r.session.Endpoint(component)
	if err != nil {
		return nil, 0, err
	}
	return getFrom(ctx, endpoint, path, accept)
}

// getFrom asks over a connection of its own, by HTTP/1.1, which does not outlast the
// answer. The connection that the rig's clients share stays as it is: one that an API
// server has accepted but not begun to serve when it is stopped keeps it from ending,
// because Go's server announces its shutdown to the HTTP/2 connections that it knows.
func getFrom(ctx context.Context, endpoint *rest.Config, path, accept string) (body []byte, code int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, fmt.Errorf("no whole answer in %s", answerLimit))
	defer cancel()
	trust, err := rest.TLSConfigFor(endpoint)
	if err != nil {
		return nil, 0, err
	}
	client, err := rest.HTTPWrappersForConfig(endpoint, &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true})
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.Host+path, nil)
	if err != nil {
		return nil, 0, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := client.RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case len(body) > maxAnswer:
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return body, resp.StatusCode, err
}
