package record

import "testing"

func TestParseAPIPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]APIPath{
		"/healthz":                                           {},
		"/apis/apps/v1":                                      {},
		"/api/v1/nodes":                                      {Resource: "nodes"},
		"/apis/apps/v1/deployments":                          {Resource: "deployments"},
		"/api/v1/namespaces/shop":                            {Resource: "namespaces", Name: "shop"},
		"/api/v1/namespaces/shop/status":                     {Resource: "namespaces", Name: "shop", Subresource: "status"},
		"/api/v1/namespaces/shop/pods":                       {Namespace: "shop", Resource: "pods"},
		"/api/v1/namespaces/shop/pods/web-1/binding":         {Namespace: "shop", Resource: "pods", Name: "web-1", Subresource: "binding"},
		"/apis/apps/v1/namespaces/shop/replicasets/web-7c9d": {Namespace: "shop", Resource: "replicasets", Name: "web-7c9d"},
	} {
		if got := ParseAPIPath(path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}
