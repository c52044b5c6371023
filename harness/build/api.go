package build

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/release"
)

// apis are the modules that declare the types of the API's objects, with the directory in each.
var apis = map[string]string{"k8s.io/api": ".", "k8s.io/apimachinery": "pkg/apis/meta"}

// API reads the types of the API's objects of a release, or of a checkout that was opened. An
// error is ErrNoRelease if there is no such release.
func (b *Builder) API(ctx context.Context, v release.Version) (*apitypes.API, error) {
	if c := b.checkoutOf(v); c != nil {
		return c.API(ctx)
	}
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	api := new(apitypes.API)
	for module, in := range apis {
		dir, err := download(ctx, s.dir, Target{Component: APIServer, Version: v}, module+"@"+published(module, string(v.Released())))
		if err != nil {
			return nil, err
		}
		if err := api.Read(os.DirFS(filepath.Join(dir, in)), path.Join(module, in)); err != nil {
			return nil, err
		}
	}
	return api, nil
}
