package kind

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/files"
)

// tempPrefix begins the name of a run's directory, and idFile is the file in it with the run's id. The directory is
// claimed while the run lasts.
const tempPrefix, idFile = "skewrig-kind-", "run"

// networkVariable names kind's network (pkg/cluster/internal/providers/docker/network.go).
const networkVariable = "KIND_EXPERIMENTAL_DOCKER_NETWORK"

// Run is what the clusters of one run share: a network and a directory.
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

// opened is true while this process has a run: kind reads the network of its clusters from the environment.
var opened atomic.Bool

// ErrOpen is the error of Open while this process has another run.
var ErrOpen = errors.New("this process has a run with kind clusters: close it first")

// Open begins a run, and removes what killed runs of this machine have left. command is that of this process, which has
// one run at a time.
func Open(ctx context.Context, command string) (_ *Run, err error) {
	if !opened.CompareAndSwap(false, true) {
		return nil, ErrOpen
	}
	id := make([]byte, 4)
	_, _ = rand.Read(id) // it never fails
	r := &Run{id: hex.EncodeToString(id)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if err := removeLeft(ctx); err != nil {
		return nil, err
	}
	if r.dir, err = os.MkdirTemp("", tempPrefix); err != nil {
		return nil, err
	}
	if r.claimed, err = claim.Take(r.dir, claim.Me(command)); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.dir, idFile), []byte(r.id), 0o600); err != nil {
		return nil, err
	}
	owner, err := docker.OwnerLabels()
	if err != nil {
		return nil, err
	}
	create := slices.Concat([]string{"network", "create", "--driver", "bridge", "--opt", "com.docker.network.bridge.enable_ip_masquerade=true", "--label", r.label()}, owner, []string{r.name()})
	if _, err = docker.Run(ctx, create...); err != nil {
		return nil, fmt.Errorf("making a network for kind clusters: %w", err)
	}
	return r, os.Setenv(networkVariable, r.name())
}

// Close removes what is left of the run. If it can't, the next Open finds the directory, and tries again.
func (r *Run) Close() error {
	defer opened.Store(false)
	if r.claimed == nil { // it has made nothing yet
		return removeDir(r.dir)
	}
	err := removeNetwork(context.Background(), r.name())
	if err == nil {
		err = removeDir(r.dir)
	}
	return errors.Join(err, r.claimed.Release(), os.Unsetenv(networkVariable))
}

// removeDir removes the directory of a run, if it has one.
func removeDir(dir string) error {
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// removeNetwork removes the network of a run with all of its containers, those among them that are
// not in the network yet. It may be gone.
func removeNetwork(ctx context.Context, name string) error {
	if _, err := removeContainers(ctx, "name=^"+name+"-"); err != nil {
		return err
	}
	if _, err := docker.Run(ctx, "network", "inspect", name); err != nil {
		return nil //nolint:nilerr // there is none
	}
	_, err := docker.Run(ctx, "network", "rm", name)
	return err
}

// removeContainers removes the containers that a filter of docker ps finds, and reports whether there were any.
func removeContainers(ctx context.Context, filter string) (any bool, err error) {
	found, err := docker.Run(ctx, "ps", "--all", "--quiet", "--filter", filter)
	if err != nil || found == "" {
		return false, err
	}
	_, err = docker.Run(ctx, append([]string{"rm", "--force", "--volumes"}, strings.Fields(found)...)...)
	return true, err
}

// runName is the name of a run's network, and runID its id.
var runName, runID = regexp.MustCompile(`^skewrig-[0-9a-f]{8}$`), regexp.MustCompile(`^[0-9a-f]{8}$`)

// removeLeft removes what runs of this machine have left that have ended. Nothing that a label says is taken for a path.
func removeLeft(ctx context.Context) error {
	networks, err := docker.Left(ctx, "network", docker.RunLabel)
	if err != nil {
		return err
	}
	for _, name := range networks {
		if !runName.MatchString(name) {
			continue
		}
		if err := removeNetwork(ctx, name); err != nil {
			return fmt.Errorf("removing what a run has left (network %s): %w", name, err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := removeRun(ctx, dir); err != nil {
			return fmt.Errorf("removing what a run has left (%s): %w", dir, err)
		}
	}
	return nil
}

// removeRun removes what the run of a directory has left, if it has ended. kind's own commands outlive a run that is
// killed, and may make a container when the rest is gone: the directory goes when nothing else is left, so that the next
// run looks again.
func removeRun(ctx context.Context, dir string) error {
	id := idIn(dir)
	if id == "" {
		return nil
	}
	claimed, err := claim.Take(dir, claim.Me("removing what was left"))
	if _, taken := errors.AsType[*claim.TakenError](err); taken || errors.Is(err, fs.ErrNotExist) {
		return nil // it lasts, or has ended just now
	}
	if err != nil {
		return err
	}
	name := (&Run{id: id}).name()
	any, err := removeContainers(ctx, "name=^"+name+"-")
	if err == nil {
		err = removeNetwork(ctx, name)
	}
	if err == nil && !any {
		err = os.RemoveAll(dir)
	}
	return errors.Join(err, claimed.Release())
}

// idIn is the id of the run whose directory it is. It is empty for a directory of others, and for what is no directory.
func idIn(dir string) string {
	at, err := os.Lstat(dir)
	if err != nil {
		return ""
	}
	if owner, known := at.Sys().(*syscall.Stat_t); !at.IsDir() || !known || int(owner.Uid) != os.Geteuid() {
		return ""
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	id, err := files.ReadIn(root, idFile, 64)
	if err != nil || !runID.Match(id) {
		return ""
	}
	return string(id)
}
