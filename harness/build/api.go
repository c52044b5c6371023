package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/mod/module"

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
	if _, err := os.Stat(filepath.Join(s.dir, apisDir)); err == nil {
		return s.exportedAPI(v)
	}
	api := new(apitypes.API)
	target := b.withStandIns(Target{Component: APIServer, Version: v})
	for module, in := range apis {
		dir, err := downloadPart(ctx, s.dir, target, module)
		if err != nil {
			return nil, err
		}
		if err := api.Read(os.DirFS(filepath.Join(dir, in)), path.Join(module, in)); err != nil {
			return nil, err
		}
	}
	return api, nil
}

// downloadPart downloads a module of Kubernetes with the version that a target's release has of it, or what stands in
// for it.
func downloadPart(ctx context.Context, dir string, t Target, path string) (string, error) {
	is := module.Version{Path: path, Version: published(path, string(t.Version.Released()))}
	for _, s := range t.standIns() {
		if s.For == path {
			is = s.By
		}
	}
	if is.Version == "" {
		return is.Path, nil
	}
	return download(ctx, dir, t, is.String())
}

// apisDir is where a cache of Export has the types of releases: who uses it may have no Go to get their source with.
// One into which an archive was imported has none.
const apisDir = "apis"

func apiFile(v release.Version) string { return path.Join(apisDir, string(v)+".json") }

// exportAPIs writes the types of the releases whose API servers are exported to another cache.
func (b *Builder) exportAPIs(ctx context.Context, targets []Target, to string) error {
	done := make(map[release.Version]bool)
	for _, t := range targets {
		if t.Component != APIServer || done[t.Version] {
			continue
		}
		done[t.Version] = true
		api, err := b.API(ctx, t.Version)
		if err != nil {
			return err
		}
		text, err := json.Marshal(api)
		if err != nil {
			return err
		}
		if err := writeBelow(to, apiFile(t.Version), text); err != nil {
			return err
		}
		if err := b.exportGates(ctx, t.Version, to); err != nil {
			return err
		}
	}
	return nil
}

func gatesFile(v release.Version) string { return path.Join(apisDir, string(v)+".txt") }

// exportGates writes the feature gates of a release to another cache, if no table has them.
func (b *Builder) exportGates(ctx context.Context, v release.Version, to string) error {
	if _, known, err := release.Table(release.Effective{Version: v}); known || err != nil {
		return err
	}
	gates, err := b.Features(ctx, v)
	if err != nil {
		return err
	}
	return writeBelow(to, gatesFile(v), []byte(release.FormatGates(gates)))
}

func (s store) exportedAPI(v release.Version) (*apitypes.API, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(apiFile(v))))
	if err != nil {
		return nil, fmt.Errorf("%s was exported without an API server of %s: %w", s.dir, v, err)
	}
	api := new(apitypes.API)
	return api, json.Unmarshal(text, api)
}
