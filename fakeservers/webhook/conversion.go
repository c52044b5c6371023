package webhook

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"sync/atomic"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
)

// Conversion is how a webhook converts custom resources. The zero Conversion changes nothing but
// their version.
type Conversion struct {
	// Rewrite changes an object as a webhook does that reads it into its own types. If unset, it
	// stays as it is.
	Rewrite func(ctx context.Context, object map[string]any) error
	// Refusal is the message with which everything is refused. If unset, nothing is.
	Refusal string
	// Delay is how long each answer takes. If unset, no time.
	Delay time.Duration
	// Away has connections end without an answer.
	Away bool
}

// Converter is a conversion webhook that listens.
type Converter struct {
	listener

	cfg        Config
	conversion atomic.Pointer[Conversion]
}

// StartConverter has a conversion webhook listen.
func StartConverter(cfg Config) (*Converter, error) {
	c := &Converter{cfg: cfg}
	c.Set(Conversion{})
	return c, c.listen(cfg, c)
}

// Set changes how the webhook converts from now on.
func (c *Converter) Set(to Conversion) { c.conversion.Store(&to) }

// review is what an API server asks, and is answered (k8s.io/apiextensions-apiserver,
// apiextensions/v1: ConversionReview).
type review struct {
	metav1.TypeMeta

	Request  *conversionRequest  `json:"request,omitempty"`
	Response *conversionResponse `json:"response,omitempty"`
}

type conversionRequest struct {
	UID               types.UID                   `json:"uid"`
	DesiredAPIVersion string                      `json:"desiredAPIVersion"`
	Objects           []unstructured.Unstructured `json:"objects"`
}

type conversionResponse struct {
	UID              types.UID                   `json:"uid"`
	ConvertedObjects []unstructured.Unstructured `json:"convertedObjects"`
	Result           metav1.Status               `json:"result"`
}

// ServeHTTP answers a review.
func (c *Converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked review
	if err := json.NewDecoder(io.LimitReader(r.Body, maxReview)).Decode(&asked); err != nil || asked.Request == nil {
		http.Error(w, "this is no ConversionReview", http.StatusBadRequest)
		return
	}
	began := time.Now()
	call := record.ConversionCalled{To: asked.Request.DesiredAPIVersion, Objects: []record.Converted{}}
	response, err := c.respond(r.Context(), asked.Request, &call)
	call.Seconds = time.Since(began).Seconds()
	if err != nil {
		call.Error = err.Error()
		c.cfg.Recorder.Append("webhook", c.cfg.Name, call)
		panic(http.ErrAbortHandler) //nolint:forbidigo // that is how a handler ends a connection without an answer
	}
	c.cfg.Recorder.Append("webhook", c.cfg.Name, call)
	write(w, review{TypeMeta: asked.TypeMeta, Response: response})
}

// respond is what the webhook answers, which goes into the record too.
func (c *Converter) respond(ctx context.Context, r *conversionRequest, call *record.ConversionCalled) (*conversionResponse, error) {
	does := c.conversion.Load()
	if err := answers(ctx, does.Away, does.Delay); err != nil {
		return nil, err
	}
	response := &conversionResponse{UID: r.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	if call.Message = does.Refusal; does.Refusal != "" {
		response.Result = metav1.Status{Status: metav1.StatusFailure, Message: does.Refusal}
		return response, nil
	}
	for _, object := range r.Objects {
		converted := object.DeepCopy()
		if does.Rewrite != nil {
			if err := does.Rewrite(ctx, converted.Object); err != nil {
				return nil, err
			}
		}
		patch, err := difference(&object, converted)
		if err != nil {
			return nil, err
		}
		call.Objects = append(call.Objects, record.Converted{Object: path.Join(object.GetNamespace(), object.GetName()), From: object.GetAPIVersion(), Patch: patch})
		converted.SetAPIVersion(r.DesiredAPIVersion)
		response.ConvertedObjects = append(response.ConvertedObjects, *converted)
	}
	return response, nil
}

// difference is what differs between two objects, as the operations of a JSON patch with their
// paths.
func difference(before, after *unstructured.Unstructured) ([]string, error) {
	was, err := before.MarshalJSON()
	if err != nil {
		return nil, err
	}
	is, err := after.MarshalJSON()
	if err != nil {
		return nil, err
	}
	operations, err := jsonpatch.CreatePatch(was, is)
	return described(operations), err
}
