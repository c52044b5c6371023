package existing

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"
)

// Resources are the resources of names, such as deployments, with their groups. What the API
// server does not have is left out: there is nothing of it.
func (c *Cluster) Resources(names []string) (all []schema.GroupVersionResource, err error) {
	groups, err := restmapper.GetAPIGroupResources(c.client.Discovery())
	if err != nil {
		return nil, fmt.Errorf("asking the API server what it serves: %w", err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for _, name := range names {
		if resource, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: name}); err == nil {
			all = append(all, resource)
		}
	}
	return all, nil
}

// Groups are the API groups of resources, by their names. What the API server does not have is
// left out.
func (c *Cluster) Groups(names []string) (map[string]string, error) {
	resources, err := c.Resources(names)
	groups := make(map[string]string)
	for _, r := range resources {
		groups[r.Resource] = r.Group
	}
	return groups, err
}
