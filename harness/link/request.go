package link

import (
	"net/http"
	"strings"
)

// about is what a request of the Kubernetes API asks for: a verb as in RBAC, and a resource with
// its subresource, as in pods/status. For another path than one of a resource, both are empty
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris).
func about(r *http.Request) (verb, resource string) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return "", ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	resource = parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return verbOf(r, len(parts) > 1), resource
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
