package rehearse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestReachable(t *testing.T) {
	t.Parallel()
	at := map[string]Endpoint{"shop/hooks": {Address: "127.0.0.1:9443", Trust: []byte("ca")}}
	const served = `{url: "https://127.0.0.1:9443/v", caBundle: Y2E=}`
	const of = `{service: {namespace: shop, name: hooks, path: /v}, caBundle: old}`
	const other = `{service: {namespace: shop, name: others}}`
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: g, names: {kind: K, plural: ks}`
	for name, c := range map[string]struct{ object, want, left string }{
		"a workload":             {`{kind: Deployment}`, `{kind: Deployment}`, ""},
		"webhooks":               {`{kind: MutatingWebhookConfiguration, webhooks: [{name: a, clientConfig: ` + of + `}]}`, `{kind: MutatingWebhookConfiguration, webhooks: [{name: a, clientConfig: ` + served + `}]}`, ""},
		"webhooks of others":     {`{kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: ` + other + `}]}`, "", "webhooks have no server"},
		"webhooks by a URL":      {`{kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: {url: "https://example.com"}}]}`, "", "webhooks have no server"},
		"some webhooks":          {`{kind: ValidatingWebhookConfiguration, webhooks: [{name: a, clientConfig: ` + other + `}, {name: b, clientConfig: ` + of + `}]}`, `{kind: ValidatingWebhookConfiguration, webhooks: [{name: b, clientConfig: ` + served + `}]}`, "webhooks have no server"},
		"a broken configuration": {`{kind: ValidatingWebhookConfiguration, webhooks: [1, {clientConfig: 2}]}`, "", "webhooks have no server"},
		"an aggregated API":      {`{kind: APIService, spec: {service: {name: a}}}`, "", "aggregated APIs have no server"},
		"a local API":            {`{kind: APIService, spec: {group: a}}`, `{kind: APIService, spec: {group: a}}`, ""},
		"a conversion":           {definition + `, conversion: {strategy: Webhook, webhook: {clientConfig: ` + of + `}}}}`, definition + `, conversion: {strategy: Webhook, webhook: {clientConfig: ` + served + `}}}}`, ""},
		"a conversion of others": {definition + `, conversion: {strategy: Webhook, webhook: {clientConfig: ` + other + `}}}}`, definition + `}}`, "the versions have the same fields"},
		"no conversion":          {definition + `, conversion: {strategy: None}}}`, definition + `, conversion: {strategy: None}}}`, ""},
	} {
		object := decoded(t, c.object)
		as := runtime.DeepCopyJSON(object)
		is, left := Reachable(object, at)
		var want map[string]any
		if c.want != "" {
			want = decoded(t, c.want)
		}
		if diff := cmp.Diff(want, is); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
		if (c.left == "") != (left == "") || !strings.Contains(left, c.left) {
			t.Errorf("%s: left out %q, want %q", name, left, c.left)
		}
		if diff := cmp.Diff(as, object); diff != "" {
			t.Errorf("%s changes what it is given:\n%s", name, diff)
		}
	}
}

func TestServicesOfWebhooks(t *testing.T) {
	t.Parallel()
	objects := []map[string]any{
		decoded(t, `{kind: Service, metadata: {name: hooks, namespace: shop}, spec: {selector: {app: operator}}}`),
		decoded(t, `{kind: Service, metadata: {name: hooks, namespace: other}, spec: {selector: {app: operator}}}`),
		decoded(t, `{kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {app: operator, tier: web}}}`),
		decoded(t, `{kind: Service, metadata: {name: all, namespace: shop}, spec: {}}`),
		decoded(t, `{kind: Deployment, metadata: {name: operator, namespace: shop}, spec: {template: {metadata: {labels: {app: operator, v: "1"}}, spec: {}}}}`),
		decoded(t, `{kind: Deployment, metadata: {name: lonely, namespace: shop}, spec: {template: {metadata: {labels: {app: lonely}}, spec: {}}}}`),
	}
	for text, want := range map[string]string{"operator=./bin": "", "operator=./bin --port=$(WEBHOOK_PORT)": "shop/hooks"} {
		o, err := ParseOperator(text)
		if err == nil {
			o, err = o.For(objects)
		}
		if got := strings.Join(o.Services, " "); err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q", text, got, err, want)
		}
	}
	o, err := ParseOperator("lonely=./bin --port=$(WEBHOOK_PORT)")
	if err == nil {
		_, err = o.For(objects)
	}
	if err == nil || !strings.Contains(err.Error(), "no Service that selects its pods") {
		t.Errorf("%v", err)
	}
}
