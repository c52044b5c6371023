package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/version"
	strictjson "sigs.k8s.io/json"
)

// recode reads an object into the types of this release and writes it again, as this release
// would have stored or sent it.
type recode struct {
	// Object is JSON, or protobuf as it is stored.
	Object []byte `json:"object"`
	// Merge is a JSON merge patch (RFC 7386) of the object. If unset, it stays as it is.
	Merge json.RawMessage `json:"merge"`
	// MediaType is how it is written.
	MediaType string `json:"mediaType"`
}

func (r recode) do() ([]byte, error) {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(r.Object, nil, nil)
	switch {
	case runtime.IsNotRegisteredError(err) && kind != nil:
		return nil, unknownKind(*kind)
	case err != nil:
		return nil, err
	}
	if object, err = merge(object, *kind, r.Merge); err != nil {
		return nil, err
	}
	as, known := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), r.MediaType)
	if !known {
		return nil, fmt.Errorf("%s has no encoding %s", version.Get().GitVersion, r.MediaType)
	}
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(as.Serializer, kind.GroupVersion()), object)
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// merge returns an object after a JSON merge patch, which may name only fields of this
// release.
func merge(object runtime.Object, kind schema.GroupVersionKind, patch json.RawMessage) (runtime.Object, error) {
	if len(patch) == 0 {
		return object, nil
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	changed, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	unknown, err := strictjson.UnmarshalStrict(after, changed)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("the %s of %s: %w", kind.Kind, version.Get().GitVersion, err)
	}
	return changed, nil
}

func unknownKind(kind schema.GroupVersionKind) error {
	return fmt.Errorf("%s has no type %s of %s", version.Get().GitVersion, kind.Kind, kind.GroupVersion())
}
