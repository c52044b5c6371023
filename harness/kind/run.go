package kind

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/docker"
)

// The labels of a run's network, beside which run it is: the machine and the directory of the run, which is
// claimed while that lasts.
const (
	hostLabel = "skewrig.dev/host"
	dirLabel  = "skewrig.dev/dir"
)

// networkVariable is how kind is told of a network (pkg/cluster/internal/providers/docker/network.go).
const networkVariable = "KIND_EXPERIMENTAL_DOCKER_NETWORK"

// Run is what the clusters of one run share: a network and a directory. There is one in a process.
type Run struct {
	id, dir string
	claimed *claim.Claim
}

// name is that of the run's network, with which the names of its clusters begin.
func (r *Run) name() string { return "skewrig-" + r.id }

// label is that of what it makes.
func (r *Run) label() string { return docker.RunLabel + "=" + r.id }

// TempDir makes a directory, which is gone after the run.
func (r *Run) TempDir() (string, error) { return os.MkdirTemp(r.dir, "") }

// Check returns why this machine can't have kind clusters for cells: all that is missing.
func Check(ctx context.Context) error {
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("it takes root, to reach the container runtimes of nodes: run skewrig as root (sudo)"))
	}
	missing = append(missing, docker.Check(ctx))
	if err := errors.Join(missing...); err != nil {
		return fmt.Errorf("this machine can't have kind clusters for cells:\n%w", err)
	}
	return nil
}

// Open begins a run. What runs of this machine have left that were killed is removed. command is
// that of this process.
func Open(ctx context.Context, command string) (_ *Run, err error) {
	if err := removeLeft(ctx); err != nil {
		return nil, err
	}
	id := make([]byte, 4)
	_, _ = rand.Read(id) // it never fails
	r := &Run{id: hex.EncodeToString(id)}
	if r.dir, err = os.MkdirTemp("", "skewrig-kind-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.claimed, err = claim.Take(r.dir, claim.Me(command)); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	_, err = docker.Run(ctx, "network", "create", "--driver", "bridge", "--opt", "com.docker.network.bridge.enable_ip_masquerade=true",
		"--label", r.label(), "--label", hostLabel+"="+host, "--label", dirLabel+"="+r.dir, r.name())
	if err != nil {
		return nil, fmt.Errorf("making a network for kind clusters: %w", err)
	}
	return r, os.Setenv(networkVariable, r.name())
}

// Close removes what is left of the run.
func (r *Run) Close() error {
	err := removeNetwork(context.Background(), r.name())
	if r.claimed != nil {
		err = errors.Join(err, r.claimed.Release())
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

// removeNetwork removes the network of a run with all of its containers, those among them that are
// not in the network yet. It may be gone.
func removeNetwork(ctx context.Context, name string) error {
	if err := removeContainers(ctx, "name="+name+"-"); err != nil {
		return err
	}
	if _, err := docker.Run(ctx, "network", "inspect", name); err != nil {
		return nil //nolint:nilerr // there is none
	}
	_, err := docker.Run(ctx, "network", "rm", name)
	return err
}

// removeContainers removes the containers that a filter of docker ps finds.
func removeContainers(ctx context.Context, filter string) error {
	found, err := docker.Run(ctx, "ps", "--all", "--quiet", "--filter", filter)
	if err != nil || found == "" {
		return err
	}
	_, err = docker.Run(ctx, append([]string{"rm", "--force", "--volumes"}, strings.Fields(found)...)...)
	return err
}

// removeLeft removes what is there of runs of this machine that have ended.
func removeLeft(ctx context.Context) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	format := fmt.Sprintf(`{{.Name}} {{.Label %q}}`, dirLabel)
	networks, err := docker.Run(ctx, "network", "ls", "--filter", "label="+hostLabel+"="+host, "--format", format)
	if err != nil {
		return err
	}
	for line := range strings.Lines(networks) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		claimed, err := claim.Take(dir, claim.Me("removing what was left"))
		switch taken := (*claim.TakenError)(nil); {
		case errors.As(err, &taken):
			continue // it runs
		case err == nil:
			err = errors.Join(removeNetwork(ctx, name), claimed.Release(), os.RemoveAll(dir))
		case errors.Is(err, os.ErrNotExist):
			err = removeNetwork(ctx, name)
		}
		if err != nil {
			return fmt.Errorf("removing what a run has left (network %s): %w", name, err)
		}
	}
	return removeLate(ctx)
}

// ofRun finds the name of a run in that of a cluster.
var ofRun = regexp.MustCompile(`^(skewrig-[0-9a-f]{8})-[0-9]+$`)

// removeLate removes containers of runs that have no network any more: a command that outlived a run
// which was killed can make one when the rest is gone. A run that lasts has its network first.
func removeLate(ctx context.Context) error {
	clusters, err := docker.Run(ctx, "ps", "--all", "--filter", "label="+clusterLabel, "--format", fmt.Sprintf(`{{.Label %q}}`, clusterLabel))
	if err != nil {
		return err
	}
	for cluster := range strings.Lines(clusters) {
		run := ofRun.FindStringSubmatch(strings.TrimSpace(cluster))
		if run == nil {
			continue // somebody else's
		}
		if _, err := docker.Run(ctx, "network", "inspect", run[1]); err == nil {
			continue
		}
		if err := removeContainers(ctx, "label="+clusterLabel+"="+run[0]); err != nil {
			return err
		}
	}
	return nil
}
