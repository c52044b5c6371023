package kind

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// awaitLimit is how long clients of an API server that was away may take to watch again: each
// time that a watch fails, its client waits longer, at last 30 s and up to as much again
// (k8s.io/client-go, tools/cache/reflector.go). awaitPoll is how often to look.
const awaitLimit, awaitPoll = 70 * time.Second, 500 * time.Millisecond

// watches are how many watches the API server serves, by what they are of.
func (c *kindCluster) watches(ctx context.Context) (map[string]float64, error) {
	text, err := c.kind.Ask(ctx, record.APIServer, "/metrics")
	if err != nil {
		return nil, err
	}
	metrics, err := provider.ParseMetrics(text)
	if err != nil {
		return nil, err
	}
	return watchesIn(metrics), nil
}

// watchesIn are how many watches there are of all objects of a resource that each release has,
// by the resource: so controllers watch, and no cell does.
func watchesIn(metrics map[string][]record.Sample) map[string]float64 {
	of := make(map[string]float64)
	for _, s := range metrics["apiserver_longrunning_requests"] {
		l := s.Labels
		lasting := l["group"] == "" || l["group"] == "apps" || l["group"] == "batch"
		if l["verb"] == "WATCH" && l["scope"] == "cluster" && lasting {
			of[fmt.Sprintf("%s/%s/%s", l["group"], l["version"], l["resource"])] += s.Value
		}
	}
	return of
}

// awaitWatches returns when there is each watch that there was before the API server was away.
// What does not come back within awaitLimit is waited for no longer: its client may be gone.
func (c *kindCluster) awaitWatches(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, awaitPoll, awaitLimit, true, func(ctx context.Context) (bool, error) {
		now, err := c.watches(ctx)
		return err == nil && areBack(c.watched, now), nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// areBack reports whether there are as many watches of each resource now as there were before.
func areBack(before, now map[string]float64) bool {
	for resource, n := range before {
		if now[resource] < n {
			return false
		}
	}
	return true
}
