package watchdog

import (
	"testing"
	"time"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	made := func(change func(*Cluster)) *Cluster {
		c := &Cluster{LastOperation: LastOperation{"Reconcile", "Processing"}, Workers: []Worker{{Name: "a"}}}
		if change != nil {
			change(c)
		}
		return c
	}
	after := func(kind, state string) *Cluster {
		return made(func(c *Cluster) { c.LastOperation = LastOperation{kind, state} })
	}
	settings := func(conditions ...string) *Cluster {
		return made(func(c *Cluster) { c.Workers[0].Settings, c.Workers[0].Conditions = true, conditions })
	}
	plain := made(nil)
	for _, tc := range []struct {
		name             string
		cluster, running *Cluster
		text, v123, v180 Action
	}{
		{"a cluster", plain, nil, Start, Start, Start},
		{"nothing has changed", plain, plain, Leave, Leave, Leave},
		{"it is gone", nil, plain, Stop, Stop, Stop},
		{"it was never there", nil, nil, Leave, Leave, Leave},
		{"it is being deleted", made(func(c *Cluster) { c.Deleting = true }), plain, Stop, Stop, Stop},
		{"it is to hibernate", made(func(c *Cluster) { c.Hibernation = true }), plain, Stop, Stop, Stop},
		{"it hibernates", made(func(c *Cluster) { c.Hibernation, c.Hibernated = true, true }), nil, Leave, Leave, Leave},
		{"it wakes up", made(func(c *Cluster) { c.Hibernated = true }), nil, Start, Leave, Leave},
		{"its workers are removed", made(func(c *Cluster) { c.Workers = nil }), plain, Stop, Stop, Stop},
		{"made without workers", made(func(c *Cluster) { c.Workers = nil }), nil, Leave, Leave, Leave},
		{"it migrates", after("Migrate", "Processing"), plain, Stop, Stop, Stop},
		{"it has migrated", after("Migrate", "Succeeded"), nil, Leave, Leave, Leave},
		{"no operation yet", after("", ""), nil, Start, Leave, Leave},
		{"it is being made", after("Create", "Processing"), nil, Start, Leave, Leave},
		{"making it failed", after("Create", "Failed"), nil, Start, Leave, Leave},
		{"it has been made", after("Create", "Succeeded"), nil, Start, Start, Start},
		{"it is being restored", after("Restore", "Processing"), nil, Start, Leave, Leave},
		{"it has been restored", after("Restore", "Succeeded"), nil, Start, Start, Start},
		{"reconciling it failed", after("Reconcile", "Failed"), nil, Start, Start, Start},
		{"it is being restored, with a prober", after("Restore", "Processing"), plain, Leave, Leave, Leave},
		{"other node conditions", settings("GPUBroken"), plain, Leave, Leave, Restart},
		{"other node conditions than before", settings("GPUBroken"), settings("NPUBroken"), Leave, Leave, Restart},
		{"the settings go", plain, settings("GPUBroken"), Leave, Leave, Restart},
		{"the default is written out", settings("KernelDeadlock", "ReadonlyFilesystem", "DiskPressure", "NetworkUnavailable"), settings(), Leave, Leave, Leave},
		{"another grace period", made(func(c *Cluster) { c.Grace = time.Minute }), plain, Leave, Leave, Leave},
		{"another worker without settings", made(func(c *Cluster) { c.Workers = append(c.Workers, Worker{Name: "b"}) }), plain, Leave, Leave, Leave},
	} {
		for release, want := range map[string]Action{Text: tc.text, "v1.2.3": tc.v123, "v1.8.0": tc.v180} {
			got, why := BehaviorOf(release).Lifecycle(tc.cluster, tc.running)
			if got != want || why == "" {
				t.Errorf("%s, %s: %s as %q, want %s", tc.name, release, got, why, want)
			}
		}
	}
}

func TestAClustersOwnGracePeriodComesFirst(t *testing.T) {
	t.Parallel()
	cfg := Config{Grace: 2 * time.Minute}
	if got := cfg.For(Cluster{}).Grace; got != 2*time.Minute {
		t.Errorf("without one: %s", got)
	}
	if got := cfg.For(Cluster{Grace: time.Minute}).Grace; got != time.Minute {
		t.Errorf("with one: %s", got)
	}
	if got := (Config{}).For(Cluster{}).WithDefaults().Grace; got != 40*time.Second {
		t.Errorf("with none at all: %s", got)
	}
}
