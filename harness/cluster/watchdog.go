package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// DependencyWatchdog is the name of the component that a Watchdog is.
const DependencyWatchdog = "dependency-watchdog"

// Watchdog is Gardener's dependency-watchdog, which is the prober of a seed. It
// is not started with the rig, because it needs definitions that a rig does not
// have by itself: Start starts it.
type Watchdog struct {
	Version release.Version
	// Config is its configuration file, as it is.
	Config []byte
}

func (c *Cluster) defineWatchdog(s serving) error {
	w := c.cfg.Watchdog
	if w == nil {
		return nil
	}
	config := filepath.Join(c.guard.Dir(), "watchdog.yaml")
	if err := os.WriteFile(config, w.Config, 0o600); err != nil {
		return err
	}
	kubeconfig, err := c.kubeconfigOf(DependencyWatchdog, administrator(DependencyWatchdog), nil)
	metrics := fmt.Sprintf("%s:%d", s.address, portOf(program.DependencyWatchdog))
	c.add(&component{
		name: DependencyWatchdog, kind: build.DependencyWatchdog, version: w.Version,
		flags:  watchdogFlags(config, kubeconfig, metrics),
		health: "http://" + metrics + "/metrics",
	})
	return err
}

func watchdogFlags(config, kubeconfig, metrics string) flags {
	return flags{
		"config-file":            config,
		"kubeconfig":             kubeconfig,
		"metrics-bind-addr":      metrics,
		"health-bind-addr":       "0", // which is none: it would listen on every address
		"enable-leader-election": "false",
	}
}
