package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build"
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

func (c *Cluster) defineWatchdog(w Watchdog, client *http.Client) error {
	config := filepath.Join(c.guard.Dir(), "watchdog.yaml")
	if err := os.WriteFile(config, w.Config, 0o600); err != nil {
		return err
	}
	kubeconfig, err := c.kubeconfigOf(DependencyWatchdog, DependencyWatchdog, guestIdentity(DependencyWatchdog))
	if err != nil {
		return err
	}
	metrics := fmt.Sprintf("%s:%d", c.block.controlPlane(), watchdogPort)
	comp := &component{
		name: DependencyWatchdog, kind: build.DependencyWatchdog, version: w.Version,
		ready: healthy(client, "http://"+metrics+"/metrics"),
	}
	comp.prepare = func(release.Gates) ([]string, error) {
		return append([]string{"prober"}, watchdogFlags(comp.version, config, kubeconfig, metrics).args()...), nil
	}
	c.add(comp)
	return nil
}

func watchdogFlags(v release.Version, config, kubeconfig, metrics string) flags {
	f := flags{
		"config-file":            config,
		"kubeconfig":             kubeconfig,
		"metrics-bind-addr":      metrics,
		"health-bind-addr":       "0", // which is none: it would listen on every address
		"enable-leader-election": "false",
	}
	if release.WatchdogProfiles(v) {
		f["pprof-bind-addr"] = "0"
	}
	return f
}
