package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-base/version"
)

// update reads an object, changes it and writes it back.
type update struct {
	// Kubeconfig leads to the API server, and MediaType is how objects are sent in both
	// directions.
	Kubeconfig string `json:"kubeconfig"`
	MediaType  string `json:"mediaType"`

	Group       string `json:"group"`
	Version     string `json:"version"`
	Kind        string `json:"kind"`
	Resource    string `json:"resource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Subresource string `json:"subresource"`

	// Merge is a JSON merge patch (RFC 7386) of the object. If unset, it is written back as it
	// was read.
	Merge json.RawMessage `json:"merge"`
	// Times is how often.
	Times int `json:"times"`
}

func (u update) do(ctx context.Context, a *answer) error {
	w := new(warnings)
	client, err := u.client(w)
	if err != nil {
		return err
	}
	a.Codes = make(map[int32]int)
	for range u.Times {
		// As controllers do, it reads again what somebody else has written in between.
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			object, err := u.once(ctx, client)
			return a.take(object, err)
		})
		if err != nil && a.Code < http.StatusBadRequest {
			return err
		}
	}
	a.Warnings = w.text
	return nil
}

// take takes what an API server answered: an object, or a refusal, which it returns.
func (a *answer) take(object runtime.Object, err error) error {
	a.Object, a.Code, a.Reason, a.Message = nil, http.StatusOK, "", ""
	if refusal := apierrors.APIStatus(nil); errors.As(err, &refusal) {
		status := refusal.Status()
		a.Code = status.Code
		a.Codes[a.Code]++
		a.Reason, a.Message = string(status.Reason), status.Message
		return err
	}
	if err != nil {
		return err
	}
	a.Codes[a.Code]++
	a.Object, err = json.Marshal(object)
	return err
}

func (u update) kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: u.Group, Version: u.Version, Kind: u.Kind}
}

func (u update) client(w rest.WarningHandler) (*rest.RESTClient, error) {
	config, err := clientcmd.BuildConfigFromFlags("", u.Kubeconfig)
	if err != nil {
		return nil, err
	}
	group := u.kind().GroupVersion()
	config.GroupVersion, config.APIPath = &group, "/apis"
	if u.Group == "" {
		config.APIPath = "/api"
	}
	config.ContentType, config.AcceptContentTypes = u.MediaType, u.MediaType+","+runtime.ContentTypeJSON
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.UserAgent = "typed-client/" + version.Get().GitVersion
	config.QPS = -1 // as fast as it can
	config.WarningHandler = w
	return rest.RESTClientFor(config)
}

// once does it once, and returns the object as the API server answered.
func (u update) once(ctx context.Context, client *rest.RESTClient) (runtime.Object, error) {
	read, err := scheme.Scheme.New(u.kind())
	if err != nil {
		return nil, unknownKind(u.kind())
	}
	if err := u.on(client.Get()).Do(ctx).Into(read); err != nil {
		return nil, err
	}
	changed, err := merge(read, u.kind(), u.Merge)
	if err != nil {
		return nil, err
	}
	answered, err := scheme.Scheme.New(u.kind())
	if err != nil {
		return nil, err
	}
	err = u.on(client.Put()).VersionedParams(new(metav1.UpdateOptions), scheme.ParameterCodec).Body(changed).Do(ctx).Into(answered)
	if err != nil {
		return nil, err
	}
	answered.GetObjectKind().SetGroupVersionKind(u.kind())
	return answered, nil
}

func (u update) on(r *rest.Request) *rest.Request {
	r = r.NamespaceIfScoped(u.Namespace, u.Namespace != "").Resource(u.Resource).Name(u.Name)
	if u.Subresource != "" {
		r = r.SubResource(u.Subresource)
	}
	return r
}

// warnings are those of answers.
type warnings struct{ text []string }

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.text = append(w.text, text) }
