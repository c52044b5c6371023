package link

import (
	"net/http"

	"github.com/skewrig/skewrig/record"
)

// about is what a request of the Kubernetes API asks for: a verb as in RBAC, and a resource with
// its subresource, as in pods/status. For another path than one of a resource, both are empty.
func about(r *http.Request) (verb, resource string) {
	path := record.ParseAPIPath(r.URL.Path)
	if path.Resource == "" {
		return "", ""
	}
	resource = path.Resource
	if path.Subresource != "" {
		resource += "/" + path.Subresource
	}
	return verbOf(r, path.Name != ""), resource
}

// verbOf is the verb of a request for one object, or for all of them.
func verbOf(r *http.Request, one bool) string {
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodGet && (watch == "true" || watch == "1"):
		return "watch"
	case r.Method == http.MethodGet && !one:
		return "list"
	case r.Method == http.MethodDelete && !one:
		return "deletecollection"
	}
	return map[string]string{
		http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
	}[r.Method]
}
