package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"

	"github.com/skewrig/skewrig/fakeservers/webhook"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/typedclient"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Convert implements action.Rig.
func (r *run) Convert(ctx context.Context, c action.Conversion) error {
	to, err := r.converts(ctx, c)
	if err != nil {
		return err
	}
	server := r.admission.converters[c.Of]
	if server == nil {
		if server, err = startWebhook(r, "conversion-"+c.Of, c.Of, webhook.StartConverter); err != nil {
			return err
		}
		r.admission.converters[c.Of] = server
	}
	server.Set(to)
	if err := r.configureConversion(ctx, c.Of, server.URL()); err != nil {
		return err
	}
	r.history.Append("webhook", c.Of, record.ConversionSet{Converts: c.Describe()})
	return nil
}

// converts is how a webhook converts.
func (r *run) converts(ctx context.Context, c action.Conversion) (webhook.Conversion, error) {
	to := webhook.Conversion{Refusal: c.Refuse, Delay: time.Duration(c.Delay), Away: c.Away}
	if c.Reserialize == "" {
		return to, nil
	}
	client, err := r.binary(ctx, build.Target{Component: build.TypedClient, Version: c.Reserialize})
	to.Rewrite = func(ctx context.Context, object map[string]any) error {
		return eachAt(object, strings.Split(c.At, "."), func(template any) (any, error) {
			return recodeTemplate(ctx, client.Path, template)
		})
	}
	return to, err
}

// eachAt changes what is at a path of an object, if it is there. A segment that ends with [] is a
// list.
func eachAt(in any, path []string, change func(any) (any, error)) error {
	fields, is := in.(map[string]any)
	name, isList := strings.CutSuffix(path[0], "[]")
	value, has := fields[name]
	switch {
	case !is || !has:
		return nil
	case isList:
		items, _ := value.([]any)
		for i := range items {
			item := map[string]any{"": items[i]}
			if err := eachAt(item, append([]string{""}, path[1:]...), change); err != nil {
				return err
			}
			items[i] = item[""]
		}
		return nil
	case len(path) > 1:
		return eachAt(value, path[1:], change)
	}
	changed, err := change(value)
	fields[name] = changed
	return err
}

// recodeTemplate is a pod template as it is after a client has read and written it. It goes as one
// of the objects that have nothing else (k8s.io/api, core/v1: PodTemplate).
func recodeTemplate(ctx context.Context, client string, template any) (any, error) {
	object, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "PodTemplate", "template": template})
	if err != nil {
		return nil, err
	}
	text, err := typedclient.Recode{Object: object, MediaType: typedclient.JSON}.Do(ctx, client)
	if err != nil {
		return nil, err
	}
	var recoded unstructured.Unstructured
	err = recoded.UnmarshalJSON(text)
	return recoded.Object["template"], err
}

// configureConversion has a definition name a conversion webhook, and returns when each API server
// asks it.
func (r *run) configureConversion(ctx context.Context, of, url string) error {
	ref := spec.ObjectRef{Resource: "customresourcedefinitions", Name: of}
	o, err := r.first("")
	if err != nil {
		return err
	}
	definitions := o.client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: ref.Resource})
	var definition *unstructured.Unstructured
	var mark string
	ctx, got := withExchange(ctx)
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if definition, err = definitions.Get(ctx, of, metav1.GetOptions{}); err != nil {
			return err
		}
		mark = r.mark(definition.Object)
		config := map[string]any{"url": url, "caBundle": base64.StdEncoding.EncodeToString(r.admission.trust)}
		conversion := map[string]any{"strategy": "Webhook", "webhook": map[string]any{"clientConfig": config, "conversionReviewVersions": []any{"v1"}}}
		if err := unstructured.SetNestedMap(definition.Object, conversion, "spec", "conversion"); err != nil {
			return err
		}
		definition, err = definitions.Update(ctx, definition, metav1.UpdateOptions{FieldManager: userAgent})
		return err
	})
	answer, err := o.answer(ref, http.StatusOK, definition, err)
	_, answer.Warning = got.answer()
	if _, err := r.answered(answer, false, err); err != nil {
		return err
	}
	return r.awaitDefinition(ctx, definition.Object, mark)
}
