// Package typedclient runs clients of releases: programs that read and write API objects by
// the types of the release that they are compiled against (harness/engine/typedclient), and so
// lose what these don't have.
package typedclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skewrig/skewrig/harness/process"
)

// The media types of objects.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// Update is a read of an object, a change, and a write of all of it.
type Update struct {
	// Kubeconfig is the file that leads to the API server.
	Kubeconfig string `json:"kubeconfig"`
	// MediaType is how objects are sent, both ways.
	MediaType string `json:"mediaType"`

	Group       string `json:"group"`
	Version     string `json:"version"`
	Kind        string `json:"kind"`
	Resource    string `json:"resource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Subresource string `json:"subresource"`

	// Merge is a JSON merge patch (RFC 7386) of the object, of fields that the release has. If
	// unset, the object is written as it was read.
	Merge map[string]any `json:"merge,omitempty"`
	// Times is how often it is done. After a conflict the object is read and written again, up
	// to five times (k8s.io/client-go, util/retry).
	Times int `json:"times"`
}

// Recode is an object that is read and written again.
type Recode struct {
	// Object is JSON, or protobuf as etcd has it.
	Object []byte `json:"object"`
	// Merge is a JSON merge patch (RFC 7386) of the object. If unset, it stays as it is.
	Merge map[string]any `json:"merge,omitempty"`
	// MediaType is how it is written.
	MediaType string `json:"mediaType"`
}

// Answer is what came of an Update.
type Answer struct {
	// Code is the HTTP status of the last answer, and Codes are how often the API server
	// answered with which: to a write, or to a read that it refused.
	Code  int            `json:"code"`
	Codes map[string]int `json:"codes"`
	// Reason and Message are those of the last answer, if it was a refusal.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Warnings are those of all answers.
	Warnings []string `json:"warnings"`
	// Object is the object of the last answer, as JSON by the types of the client. It is unset
	// after a refusal.
	Object []byte `json:"object"`
}

// Do has the client at a path do the update. A refusal by the API server is no error.
func (u Update) Do(ctx context.Context, client string) (Answer, error) {
	return ask(ctx, client, map[string]any{"update": u})
}

// Do has the client at a path read and write the object.
func (r Recode) Do(ctx context.Context, client string) ([]byte, error) {
	a, err := ask(ctx, client, map[string]any{"recode": r})
	return a.Object, err
}

// ErrClient marks what a client could not do, such as a change of a field that its types don't
// have.
var ErrClient = errors.New("the client")

// ask starts a client, which answers one request. It gets nothing of the environment.
func ask(ctx context.Context, client string, request any) (Answer, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return Answer{}, err
	}
	ended, err := process.Command{Name: client, Path: client, Stdin: bytes.NewReader(text)}.Run(ctx)
	if err != nil {
		return Answer{}, err
	}
	var a struct {
		Answer

		Error string `json:"error"`
	}
	if err := json.Unmarshal(ended.Stdout, &a); err != nil {
		return Answer{}, fmt.Errorf("%s answers %q: %w", client, ended.Stdout, err)
	}
	if a.Error != "" {
		return a.Answer, fmt.Errorf("%w: %s", ErrClient, a.Error)
	}
	return a.Answer, nil
}
