package rehearse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	pod := func(spec string) map[string]any {
		return decoded(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {spec: `+spec+`}}}`)
	}
	for _, c := range []struct {
		name, spec string
		has        []map[string]any
		want       []map[string]any
	}{
		{name: "nothing", spec: `{containers: [{name: a}]}`},
		{name: "a volume", spec: `{volumes: [{name: v, secret: {secretName: tls, items: [{key: tls.crt, path: a}]}}]}`,
			want: []map[string]any{decoded(t, `{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: shop}, stringData: {tls.crt: mock}}`)}},
		{name: "one that is there", spec: `{volumes: [{name: v, secret: {secretName: tls}}]}`,
			has: []map[string]any{decoded(t, `{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: shop}}`)}},
		{name: "one that is optional", spec: `{containers: [{name: a, envFrom: [{configMapRef: {name: c, optional: true}}]}]}`},
		{name: "two keys of one", spec: `{containers: [{name: a, env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: a}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: b}}}]}]}`,
			want: []map[string]any{decoded(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}, data: {a: mock, b: mock}}`)}},
		{name: "an account", spec: `{serviceAccountName: runner}`,
			want: []map[string]any{decoded(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: runner, namespace: shop}}`)}},
	} {
		if diff := cmp.Diff(c.want, Missing(append(c.has, pod(c.spec)))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

func TestNodeLabels(t *testing.T) {
	t.Parallel()
	pod := func(selector string) map[string]any {
		return decoded(t, `{kind: Pod, spec: {nodeSelector: `+selector+`}}`)
	}
	got := NodeLabels([]map[string]any{pod(`{kubernetes.io/os: linux, pool: a}`), pod(`{pool: b, gpu: "true"}`)}, 2)
	want := []map[string]string{{"pool": "a", "gpu": "true"}, {"pool": "b", "gpu": "true"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
