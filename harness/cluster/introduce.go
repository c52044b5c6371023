package cluster

import (
	"path/filepath"

	"github.com/skewrig/skewrig/harness/rigs"
	"github.com/skewrig/skewrig/record"
)

// introduce says in the rig's directory what the rig is, for who lists rigs. The
// components are defined.
func (c *Cluster) introduce() error {
	logs, err := filepath.Abs(c.cfg.LogDir)
	if err != nil {
		return err
	}
	report := c.cfg.ReportDir
	if report != "" {
		if report, err = filepath.Abs(report); err != nil {
			return err
		}
	}
	components := make(map[string]string)
	for _, i := range c.Instances() {
		components[i.Name] = string(i.Version)
	}
	return c.guard.Say(func(i *rigs.Info) {
		*i = rigs.Info{For: c.cfg.Purpose, Components: components, Kubeconfig: c.Kubeconfig(), Logs: logs, ReportDir: report}
	})
}

// SetPurpose says what the rig is for from now on.
func (c *Cluster) SetPurpose(purpose string) error {
	return c.guard.Say(func(i *rigs.Info) { i.For = purpose })
}

// sayRelease says what a component is started as.
func (c *Cluster) sayRelease(comp *component) error {
	return c.guard.Say(func(i *rigs.Info) { i.Components[comp.name] = string(comp.version) })
}

// socketRoom is how many bytes the longest path of a socket below the rig's directory
// has: a kubelet's, for device plugins.
func socketRoom(nodes []record.Node) (longest int) {
	for _, n := range nodes {
		longest = max(longest, len("/device-plugins/kubelet.sock")+len(kubeletDirs{root: filepath.Join("/nodes", n.Name)}.state()))
	}
	return longest
}
