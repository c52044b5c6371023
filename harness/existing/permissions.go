package existing

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Permission is what a client may do with the objects of a resource, or of a subresource: pods/exec.
type Permission struct {
	Verb, Group, Resource string
}

// Of is the resource with its group, as kubectl auth can-i takes it: "deployments.apps".
func (p Permission) Of() string {
	if p.Group == "" {
		return p.Resource
	}
	return p.Resource + "." + p.Group
}

// String is the permission: "list deployments.apps".
func (p Permission) String() string { return p.Verb + " " + p.Of() }

// Base are the permissions that every run needs.
func Base() []Permission {
	return []Permission{
		{"create", "", "namespaces"},
		{"get", "", "namespaces"},
		{"delete", "", "namespaces"},
		{"list", "", "nodes"},
		{"watch", "", "nodes"},
		{"get", "", "serviceaccounts"},
	}
}

// Missing returns those of the permissions that the client does not have.
func (c *Cluster) Missing(ctx context.Context, all []Permission) ([]Permission, error) {
	return Missing(ctx, c.client, "", all)
}

// Missing returns those of the permissions that a client does not have in a namespace, or, if that is empty, in all.
func Missing(ctx context.Context, client kubernetes.Interface, namespace string, all []Permission) (missing []Permission, err error) {
	for _, p := range all {
		resource, subresource, _ := strings.Cut(p.Resource, "/")
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: subresource},
		}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("asking whether it is permitted to %s: %w", p, err)
		}
		if !answer.Status.Allowed {
			missing = append(missing, p)
		}
	}
	return missing, nil
}
