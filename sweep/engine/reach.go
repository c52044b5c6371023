package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/object"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Reach starts a control plane, and finds an object with each field in each kind, and one of each kind without. For gates
// without fields, these are one of each ordinary kind.
func (cfg Config) Reach(ctx context.Context, out Output) (uses []trial.Use, all []trial.Coverage, err error) {
	r, err := cfg.start(ctx, trial.Plan{}, out)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.cluster.Close()) }()
	ctx, cancel := r.cluster.Bind(ctx)
	defer cancel()
	return r.reach(ctx)
}

func (r *run) reach(ctx context.Context) (uses []trial.Use, all []trial.Coverage, _ error) {
	hints, err := object.DefaultHints()
	if err != nil {
		return nil, nil, err
	}
	maker := object.Maker{API: r.API, Hints: hints}
	kinds := r.kinds()
	controls := make(map[string]bool)
	control := func(kind apitypes.Kind) error {
		if controls[kind.String()] {
			return nil
		}
		controls[kind.String()] = true
		none := r.reachOne(ctx, maker, kind, "", nil, []gated.Place{{Path: "metadata.name"}})
		if none.Object == nil {
			return fmt.Errorf("no %s without a gated field could be made: %s", kind, none.Why)
		}
		uses = append(uses, r.use(kind, gated.Field{}, none))
		return nil
	}
	for _, name := range r.ordinaryKinds() {
		if err := control(kinds[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range r.Release.Fields() {
		for _, places := range f.ByKind() {
			kind, is := kinds[places[0].APIVersion+" "+places[0].Kind]
			if !is || isStatus(places[0]) || !r.swept(f) {
				continue
			}
			reached := r.reachOne(ctx, maker, kind, f.Name, f.Gates, places)
			all = append(all, reached)
			if reached.Object == nil {
				continue
			}
			if err := control(kind); err != nil {
				return nil, nil, err
			}
			uses = append(uses, r.use(kind, f, reached))
		}
	}
	return uses, all, context.Cause(ctx)
}

// isStatus reports whether a place is in the status of an object, which others write.
func isStatus(p gated.Place) bool { return strings.HasPrefix(p.Path, "status") }

func (r *run) swept(f gated.Field) bool {
	on := r.On()
	return slices.ContainsFunc(f.Gates, func(name string) bool { return on[name] })
}

func (r *run) use(kind apitypes.Kind, f gated.Field, reached trial.Coverage) trial.Use {
	u := trial.Use{APIVersion: kind.APIVersion(), Kind: kind.Name, Object: reached.Object, Resource: r.server.plural(kind), Namespaced: kind.Namespaced}
	u.Conditions = hasPath(r.API, kind.Type, []string{"status", "conditions"})
	if f.Name != "" {
		u.Used = trial.Used{Field: f.Name, Gates: f.Gates, ByComment: f.ByComment, Path: reached.Path, Under: reached.Under}
	}
	return u
}

func (r *run) reachOne(ctx context.Context, maker object.Maker, kind apitypes.Kind, field string, gates []string, places []gated.Place) trial.Coverage {
	reached := trial.Coverage{Field: field, Gates: gates, APIVersion: kind.APIVersion(), Kind: kind.Name}
	for _, p := range places {
		made, err := maker.Reach(ctx, r.server, kind, p.Path)
		if err == nil {
			reached.Path, reached.Under, reached.Object, reached.Why = p.Path, p.Under, made, ""
			break
		}
		if reached.Why == "" {
			reached.Why = p.Path + ": " + err.Error()
		}
	}
	return reached
}

// kinds are those that are swept, each in the version that is served best.
func (r *run) kinds() map[string]apitypes.Kind {
	best := make(map[string]apitypes.Kind) // by group and name
	for _, k := range gated.Served(r.Release.Version, r.API) {
		if !r.wantsKind(k.Name) {
			continue
		}
		id := k.Group + "/" + k.Name
		if had, is := best[id]; !is || version.CompareKubeAwareVersionStrings(k.Version, had.Version) > 0 {
			best[id] = k
		}
	}
	all := make(map[string]apitypes.Kind)
	for _, k := range best {
		all[k.String()] = k
	}
	return all
}
