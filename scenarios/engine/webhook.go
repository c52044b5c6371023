package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/fakeservers/webhook"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/typedclient"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// admission are the webhooks of a cell.
type admission struct {
	servers    map[string]*webhook.Server    // by name
	converters map[string]*webhook.Converter // by the name of the definition
	trust      []byte                        // the authority that their certificates are of, in PEM
	marks      int                           // configurations and definitions so far
}

// Webhook implements action.Rig.
func (r *run) Webhook(ctx context.Context, w action.Webhook) error {
	b, err := r.behaves(ctx, w)
	if err != nil {
		return err
	}
	server := r.admission.servers[w.Name]
	if server == nil {
		if server, err = startWebhook(r, "webhook-"+w.Name, w.Name, webhook.Start); err != nil {
			return err
		}
		r.admission.servers[w.Name] = server
	}
	server.Set(b)
	r.admission.marks++
	mark := strconv.Itoa(r.admission.marks)
	o, err := r.first("")
	if err != nil {
		return err
	}
	answer, err := o.write(ctx, action.Write{Verb: action.Applies, Force: true, Body: r.admission.configuration(w, server, mark)})
	if _, err := r.answered(answer, false, err); err != nil {
		return err
	}
	if err := r.awaitMark(ctx, server, mark); err != nil {
		return err
	}
	r.history.Append("webhook", w.Name, record.WebhookSet{Answers: w.Describe()})
	return nil
}

// behaves is how a webhook behaves.
func (r *run) behaves(ctx context.Context, w action.Webhook) (b webhook.Behavior, err error) {
	b = webhook.Behavior{Refusal: w.Refuse, Delay: time.Duration(w.Delay), Away: w.Away}
	for _, o := range w.Patch {
		operation := jsonpatch.Operation{Operation: o.Op, Path: o.Path}
		if o.Value != nil {
			operation.Value = *o.Value
		}
		b.Patch = append(b.Patch, operation)
	}
	if w.Reserialize == "" {
		return b, nil
	}
	client, err := r.binary(ctx, build.Target{Component: build.TypedClient, Version: w.Reserialize})
	b.Rewrite = func(ctx context.Context, object []byte) ([]byte, error) {
		return typedclient.Recode{Object: object, MediaType: typedclient.JSON}.Do(ctx, client.Path)
	}
	return b, err
}

// startWebhook starts a webhook of a kind by name, with a certificate of the rig.
func startWebhook[W any](r *run, certificateName, name string, start func(webhook.Config) (W, error)) (server W, err error) {
	definer, err := provider.As[provider.Definer](r.session)
	if err != nil {
		return server, err
	}
	host, certificate, trust, err := definer.Serving(certificateName)
	if err != nil {
		return server, err
	}
	r.admission.trust = trust
	return start(webhook.Config{Name: name, Host: host, Certificate: certificate, Recorder: r.history})
}

// close ends the webhooks.
func (a *admission) close() (err error) {
	for _, server := range a.servers {
		err = errors.Join(err, server.Close())
	}
	for _, converter := range a.converters {
		err = errors.Join(err, converter.Close())
	}
	return err
}

// markLabel is on objects of which an API server asks at the path of a mark, and no other
// webhook of the cell.
const markLabel = "skewrig.dev/mark"

// configuration is the object by which API servers know of a webhook. A second entry is about
// objects that show when they do.
func (a *admission) configuration(w action.Webhook, server *webhook.Server, mark string) map[string]any {
	kind := "MutatingWebhookConfiguration"
	if w.Validating {
		kind = "ValidatingWebhookConfiguration"
	}
	entry := func(name, url, policy string, timeout time.Duration, marked bool, rules []any) map[string]any {
		operator := map[bool]string{true: "Exists", false: "DoesNotExist"}[marked]
		return map[string]any{
			"name":         name + ".skewrig.dev",
			"clientConfig": map[string]any{"url": url, "caBundle": base64.StdEncoding.EncodeToString(a.trust)},
			"rules":        rules, "failurePolicy": policy, "timeoutSeconds": int64(timeout / time.Second),
			"objectSelector":          map[string]any{"matchExpressions": []any{map[string]any{"key": markLabel, "operator": operator}}},
			"admissionReviewVersions": []any{"v1"}, "sideEffects": "None",
		}
	}
	var rules []any
	for _, r := range w.Rules {
		rules = append(rules, rule(r.Operations, r.APIGroups, r.APIVersions, r.Resources))
	}
	return map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": w.Name},
		"webhooks": []any{
			entry(w.Name, server.URL(), w.FailurePolicy, time.Duration(w.Timeout), false, rules),
			entry(w.Name+"-mark", server.URL()+webhook.MarkPath+mark, action.IgnorePolicy, markTimeout, true, []any{rule([]string{"CREATE"}, []string{""}, []string{"v1"}, []string{"configmaps"})}),
		},
	}
}

const markTimeout = 10 * time.Second

func rule(operations, groups, versions, resources []string) map[string]any {
	list := func(texts []string) (all []any) {
		for _, text := range texts {
			all = append(all, text)
		}
		if all == nil {
			all = []any{"*"}
		}
		return all
	}
	return map[string]any{"operations": list(operations), "apiGroups": list(groups), "apiVersions": list(versions), "resources": list(resources)}
}

// awaitMark returns when each API server that runs asks as a configuration says.
func (r *run) awaitMark(ctx context.Context, server *webhook.Server, mark string) error {
	servers, err := r.runningServers()
	if err != nil {
		return err
	}
	for _, name := range servers {
		o, err := r.client(name)
		if err != nil {
			return err
		}
		server.Forget(mark)
		for !server.Marked(mark) {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"generateName": "mark-", "labels": map[string]any{markLabel: mark}},
			}}
			configMaps := o.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(metav1.NamespaceDefault)
			if _, err := configMaps.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
				return fmt.Errorf("asking whether %s knows the webhook: %w", name, err)
			}
			if err := r.Wait(ctx, "", betweenAsks); err != nil {
				return err
			}
		}
	}
	return nil
}
