package rehearse

import (
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/scenarios/kube"
)

// The variables by which an operator learns where to serve its webhooks: a port of 127.0.0.1, and a directory with tls.crt,
// tls.key and ca.crt. Its arguments can have them as those of a container can: $(WEBHOOK_PORT).
const (
	WebhookPort  = "WEBHOOK_PORT"
	WebhookCerts = "WEBHOOK_CERTS"
)

// servesWebhooks reports whether an operator is given the port of its webhooks.
func (o Operator) servesWebhooks() bool {
	return slices.ContainsFunc(o.Args, func(arg string) bool { return strings.Contains(arg, "$("+WebhookPort+")") })
}

// servicesOf are the Services among objects that lead to pods of a namespace with some labels, by namespace and name.
func servicesOf(objects []map[string]any, namespace string, of labels.Set) (all []string) {
	for _, object := range objects {
		selector, _, _ := unstructured.NestedStringMap(object, "spec", "selector")
		metadata, _ := object["metadata"].(map[string]any)
		if object["kind"] != "Service" || namespaceOf(metadata) != namespace || len(selector) == 0 {
			continue
		}
		if name, _ := metadata["name"].(string); labels.SelectorFromSet(selector).Matches(of) {
			all = append(all, path.Join(namespace, name))
		}
	}
	return all
}

// IsWebhooks reports whether an object lists webhooks, which API servers ask before they store something.
func IsWebhooks(object map[string]any) bool {
	return object["kind"] == "ValidatingWebhookConfiguration" || object["kind"] == "MutatingWebhookConfiguration"
}

// Endpoint is where the webhooks of a Service are served.
type Endpoint struct {
	// Address is a host and a port.
	Address string
	// Trust are the certificates that a client trusts, PEM-encoded.
	Trust []byte
}

// Reachable returns an object as API servers can ask its webhooks: at the endpoints of Services, by namespace and name. Webhooks
// that none of them serves are left out, since all that they are asked about would be refused; left says so, and is empty
// otherwise. It returns nil if nothing of the object remains.
func Reachable(object map[string]any, at map[string]Endpoint) (reachable map[string]any, left string) {
	strategy, _, _ := unstructured.NestedString(object, "spec", "conversion", "strategy")
	_, _, defines := kube.Definition(object)
	switch {
	case object["kind"] == "APIService":
		if _, is, _ := unstructured.NestedMap(object, "spec", "service"); is {
			return nil, "aggregated APIs have no server here, so they are left out"
		}
	case IsWebhooks(object):
		return reachableWebhooks(object, at)
	case defines && strategy == "Webhook":
		object = runtime.DeepCopyJSON(object)
		client, _, _ := unstructured.NestedMap(object, "spec", "conversion", "webhook", "clientConfig")
		if !lead(client, at) {
			unstructured.RemoveNestedField(object, "spec", "conversion")
			return object, "the conversion webhook has no server here: the versions have the same fields"
		}
		_ = unstructured.SetNestedMap(object, client, "spec", "conversion", "webhook", "clientConfig") // it is there
	}
	return object, ""
}

func reachableWebhooks(object map[string]any, at map[string]Endpoint) (map[string]any, string) {
	object = runtime.DeepCopyJSON(object)
	webhooks, _ := object["webhooks"].([]any)
	has := len(webhooks)
	webhooks = slices.DeleteFunc(webhooks, func(of any) bool {
		webhook, _ := of.(map[string]any)
		client, _ := webhook["clientConfig"].(map[string]any)
		return !lead(client, at)
	})
	object["webhooks"] = webhooks
	const left = "webhooks have no server here, so they are left out"
	switch {
	case len(webhooks) == 0:
		return nil, left
	case len(webhooks) < has:
		return object, left
	}
	return object, ""
}

// lead leads a client to the endpoint of its Service, and reports whether there is one.
func lead(client map[string]any, at map[string]Endpoint) bool {
	service, _ := client["service"].(map[string]any)
	name, _ := service["name"].(string)
	endpoint, is := at[path.Join(namespaceOf(service), name)]
	if !is {
		return false
	}
	below, _ := service["path"].(string)
	delete(client, "service")
	client["url"] = "https://" + endpoint.Address + below
	client["caBundle"] = base64.StdEncoding.EncodeToString(endpoint.Trust)
	return true
}
