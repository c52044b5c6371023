package checkout

import (
	"context"
	"path"
	"strings"

	"github.com/skewrig/skewrig/harness/apitypes"
)

// staging is where a checkout has the modules that others import, and apis where those have the
// types of API objects.
const staging = "staging/src/"

var apis = []string{staging + "k8s.io/api", staging + "k8s.io/apimachinery/pkg/apis/meta"}

// API reads the types of the API's objects.
func (c *Checkout) API(ctx context.Context) (*apitypes.API, error) {
	list, err := c.ask(ctx, append([]string{"ls-tree", "-r", "--name-only", c.Tree, "--"}, apis...)...)
	if err != nil {
		return nil, err
	}
	api := new(apitypes.API)
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		if !apitypes.Wanted(name) {
			continue
		}
		text, err := c.File(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := api.Add(strings.TrimPrefix(path.Dir(name), staging), name, text); err != nil {
			return nil, err
		}
	}
	return api, nil
}
