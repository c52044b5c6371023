package build

import (
	"context"
	"errors"
	"os"
)

// Missing returns those of the targets that Build would compile: neither given nor in
// the cache. It compiles nothing.
func (b *Builder) Missing(ctx context.Context, targets []Target) (missing []Target, err error) {
	var failures []error
	for _, t := range targets {
		store, recipe, err := b.prepare(ctx, t)
		if err != nil {
			failures = append(failures, &TargetError{Target: t, Err: err})
			continue
		}
		if recipe == nil {
			continue // it is given
		}
		if _, err := readManifest(store.entry(t, recipe.key()).dir); errors.Is(err, os.ErrNotExist) {
			missing = append(missing, t)
		}
	}
	return missing, errors.Join(failures...)
}
