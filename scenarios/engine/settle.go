package engine

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/law/rest"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Objects are at rest if none was written for still. That is looked at every so often.
const (
	still = 3 * time.Second
	often = time.Second / 4
)

// touched annotates an object.
var touched = map[string]any{"metadata": map[string]any{"annotations": map[string]any{"skewrig.dev/touched": "true"}}}

// Settle waits until all is at rest, for action.Rig.
func (r *run) Settle(ctx context.Context, settle action.Settle) error {
	began, started := r.machine.Now(), time.Now()
	stillness := rest.Stillness{Began: started, Scheduler: r.cell.Topology.Scheduler}
	looked := 0
	var settled record.Settled
	for {
		if err := r.Wait(ctx, "", often); err != nil {
			return err
		}
		if err := r.session.Settle(ctx); err != nil {
			return err
		}
		events := r.history.Events()
		for ; looked < len(events); looked++ {
			stillness.Add(events[looked])
		}
		settled.Restless = stillness.Restless(time.Now(), still)
		if len(settled.Restless) == 0 && time.Since(started) >= still {
			break
		}
		if r.machine.Now()-began > time.Duration(settle.Within) {
			break
		}
	}
	if settle.Touch && len(settled.Restless) == 0 {
		if err := r.touch(ctx, &settled); err != nil {
			return err
		}
	}
	r.history.Append("engine", r.current.Name, settled)
	return nil
}

// touch annotates each object that was recorded, as a dry run, and notes which are refused.
func (r *run) touch(ctx context.Context, settled *record.Settled) error {
	o, err := r.asked("")
	if err != nil {
		return err
	}
	there := timeline.Of(r.history.Events()).Objects
	for _, key := range slices.Sorted(maps.Keys(there)) {
		v := there[key]
		if v.Cluster != "" {
			continue
		}
		ref := spec.ObjectRef{Resource: v.Resource, Namespace: v.Namespace, Name: v.Name}
		write := action.Write{Verb: action.Patches, Ref: r.session.Names().Ref(ref), Body: touched, WriteOptions: action.WriteOptions{DryRun: true}}
		answer, err := o.write(ctx, write)
		if err != nil {
			return fmt.Errorf("touching %s: %w", key, err)
		}
		settled.Touched++
		if answer.Code >= 400 && answer.Code != http.StatusNotFound && answer.Code != http.StatusConflict {
			settled.Refused = append(settled.Refused, record.Refusal{Object: key, Code: answer.Code, Message: answer.Message})
		}
	}
	return nil
}
