package record

import "strings"

// APIPath is a path of the Kubernetes API that names a resource
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris).
type APIPath struct {
	// Resource is unset for a path without one, such as /healthz.
	Resource, Subresource string
	// Namespace is unset for resources without one, and for those of all namespaces. Name is unset for a collection.
	Namespace, Name string
}

// ParseAPIPath parses the path of a request.
func ParseAPIPath(path string) (p APIPath) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return p
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		p.Namespace, parts = parts[1], parts[2:]
	}
	p.Resource = parts[0]
	if len(parts) > 1 {
		p.Name = parts[1]
	}
	if len(parts) > 2 {
		p.Subresource = parts[2]
	}
	return p
}
