package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// writtenBy is the label of a Widget that has the minor version beside which it was written.
const writtenBy = "written-by"

// operator has two webhooks: one is strict about what it does not know of a StatefulSet, and the other one converts Widgets that
// were not written beside a newer API server.
type operator struct {
	minor    atomic.Int64
	converts bool // so that the label of who wrote a Widget is needed
}

func (o *operator) serve(port, certs string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/validate", answer(validate))
	mux.HandleFunc("/convert", answer(o.convert))
	return http.ListenAndServeTLS("127.0.0.1:"+port, certs+"/tls.crt", certs+"/tls.key", mux) //nolint:gosec // the rehearsal ends it
}

func answer[Review any](fill func(*Review)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review Review
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fill(&review)
		_ = json.NewEncoder(w).Encode(review)
	}
}

func validate(review *admissionv1.AdmissionReview) {
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	var object map[string]any
	err := json.Unmarshal(review.Request.Object.Raw, &object)
	rolling, _, _ := unstructured.NestedMap(object, "spec", "updateStrategy", "rollingUpdate")
	for name := range rolling {
		if name != "partition" {
			err = fmt.Errorf("unknown field %q", "spec.updateStrategy.rollingUpdate."+name)
		}
	}
	if err != nil {
		review.Response.Allowed, review.Response.Result = false, &metav1.Status{Message: err.Error()}
	}
}

// conversionReview is a ConversionReview of apiextensions.k8s.io/v1.
type conversionReview struct {
	metav1.TypeMeta `json:",inline"`

	Request struct {
		UID               types.UID              `json:"uid"`
		DesiredAPIVersion string                 `json:"desiredAPIVersion"`
		Objects           []runtime.RawExtension `json:"objects"`
	} `json:"request"`
	Response conversionResponse `json:"response"`
}

type conversionResponse struct {
	UID              types.UID              `json:"uid"`
	ConvertedObjects []runtime.RawExtension `json:"convertedObjects"`
	Result           metav1.Status          `json:"result"`
}

func (o *operator) convert(review *conversionReview) {
	review.Response = conversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		var object unstructured.Unstructured
		err := json.Unmarshal(raw.Raw, &object.Object)
		minor, _ := strconv.ParseInt(object.GetLabels()[writtenBy], 10, 64)
		if is := o.minor.Load(); err == nil && minor > is {
			err = fmt.Errorf("written beside 1.%d: it can't be converted beside 1.%d", minor, is)
		}
		object.SetAPIVersion(review.Request.DesiredAPIVersion)
		text, failed := json.Marshal(object.Object)
		if err == nil {
			err = failed
		}
		if err != nil {
			review.Response.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			return
		}
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Raw: text})
	}
}
