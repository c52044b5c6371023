package link

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhatARequestIsAbout(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /version":      " ",
		"GET /api/v1":       " ",
		"GET /apis/apps/v1": " ",
		"GET /api/v1/pods":  "list pods",
		"GET /api/v1/pods?watch=true&resourceVersion=3":                        "watch pods",
		"GET /api/v1/namespaces/default/pods/web":                              "get pods",
		"POST /api/v1/namespaces/default/pods":                                 "create pods",
		"POST /api/v1/namespaces/default/pods/web/eviction":                    "create pods/eviction",
		"PUT /api/v1/namespaces/default/pods/web/status":                       "update pods/status",
		"PATCH /apis/apps/v1/namespaces/default/deployments/web":               "patch deployments",
		"DELETE /apis/apps/v1/namespaces/default/replicasets/web-1":            "delete replicasets",
		"DELETE /apis/apps/v1/namespaces/default/replicasets":                  "deletecollection replicasets",
		"GET /api/v1/namespaces":                                               "list namespaces",
		"GET /api/v1/namespaces/default":                                       "get namespaces",
		"PUT /api/v1/namespaces/default/finalize":                              "update namespaces/finalize",
		"PATCH /api/v1/namespaces/default/status":                              "patch namespaces/status",
		"PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a": "update leases",
	} {
		method, path, _ := strings.Cut(request, " ")
		verb, resource := about(httptest.NewRequest(method, path, nil))
		if got := verb + " " + resource; got != want {
			t.Errorf("%s is %q, want %q", request, got, want)
		}
	}
}
