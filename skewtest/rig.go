package skewtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// DirEnv is the environment variable that names the directory in which rigs and
// scenarios leave their files, each in a directory of its own. If unset, that is the
// system's directory for temporary files, and what belongs to tests that pass is
// removed.
const DirEnv = "SKEWTEST_DIR"

// startLimit is how long a rig may take to start, once its components are built.
const startLimit = 5 * time.Minute

// Rig is a running cluster of real components. Its methods may be called by several
// tests at the same time; those that change a component are for one test alone.
type Rig struct {
	topology Topology
	rig      *rig.Rig
	builder  builder
	history  *record.History
	file     *os.File
	dir      string

	mu       sync.Mutex
	line     *timeline.Timeline // what of the history was folded
	failed   bool               // a test that has the rig did
	reported map[string]bool    // tests that have reported what happened
	spaces   int                // namespaces that were made
}

// Start starts a rig for a test, and ends it with the test. If the test fails, it logs
// what happened on the rig and where the files are. If the rig can't be started, the test
// ends here; see MissingEnv for components that were not built yet.
func Start(t testing.TB, topology Topology) *Rig {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	r, err := open(ctx, topology, dirName(t.Name()), t.Logf)
	if err != nil {
		giveUp(t, err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Errorf("skewtest: ending the rig: %v", err)
		}
	})
	r.Follow(t)
	return r
}

func discard(string, ...any) {}

// open starts a rig, and builds what is missing.
func open(ctx context.Context, topology Topology, name string, logf func(string, ...any)) (_ *Rig, err error) {
	builder, err := newBuilder(ctx, logf)
	if err != nil {
		return nil, err
	}
	cell, err := topology.cell(builder.Releases())
	if err != nil {
		return nil, err
	}
	cells := []plan.Cell{cell}
	if err := builder.provide(ctx, app.Targets(cells), cells); err != nil {
		return nil, err
	}
	library, err := images.Library(ctx, cell.Images, builder.Binary)
	if err != nil {
		return nil, err
	}
	builder.logf = discard // the test that starts a rig may be over before the rig is
	r := &Rig{topology: topology, builder: builder, line: timeline.New(), reported: make(map[string]bool)}
	if err := r.record(name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.failed = true // its logs say why
			err = errors.Join(fmt.Errorf("%w; logs: %s", err, filepath.Join(r.dir, reports.LogsDir)), r.close())
		}
	}()
	config := rig.WithContainers(ctx, rig.ClusterConfig(cell.Topology, library, r.history), images.NewContainers(images.Played{Images: cell.Images}, builder.Binary, cell))
	config.AllowHost, config.Binary, config.LogDir = topology.AllowHost, builder.Binary, filepath.Join(r.dir, reports.LogsDir)
	config.Clients, config.Links = topology.Clients, topology.links(cell.Topology)
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not up within %s", startLimit))
	defer cancel()
	if r.rig, err = rig.Start(ctx, cell.Topology, config); err != nil {
		return nil, fmt.Errorf("starting the rig: %w", err)
	}
	return r, nil
}

// record makes the directory of the rig's files, and begins the record.
func (r *Rig) record(name string) (err error) {
	if r.dir, err = newDir(name); err != nil {
		return err
	}
	r.file, err = files.Create(filepath.Join(r.dir, reports.HistoryFile), 0o644)
	r.history = record.NewHistory(r.file)
	return err
}

// newDir makes a directory for files that a test leaves.
func newDir(name string) (string, error) {
	parent := os.Getenv(DirEnv)
	if parent != "" {
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(parent, "skewtest-"+name+"-")
}

var notOfNames = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// dirName is the name of a test as a part of the name of a directory.
func dirName(test string) string {
	const most = 50
	name := notOfNames.ReplaceAllString(test, "-")
	return cmp.Or(strings.Trim(name[:min(len(name), most)], "-"), "test")
}

// close ends the rig. Its files are removed, unless a test that had it failed, or DirEnv
// is set.
func (r *Rig) close() error {
	var failures []error
	if r.rig != nil { // or it did not start
		failures = append(failures, r.rig.Close())
	}
	failures = append(failures, r.history.Err(), r.file.Close())
	if !r.failed && os.Getenv(DirEnv) == "" {
		failures = append(failures, os.RemoveAll(r.dir))
	}
	return errors.Join(failures...)
}

// Dir is the directory of the rig's files: the record (history.jsonl), and the logs of
// its components, in logs.
func (r *Rig) Dir() string { return r.dir }

// Config is the configuration of an administrator's client, without throttling.
func (r *Rig) Config() *rest.Config { return r.rig.RESTConfig() }

// ServerConfig is the configuration of an administrator's client for one of several API
// servers, by its name in the topology.
func (r *Rig) ServerConfig(name string) (*rest.Config, error) {
	return r.rig.Endpoint(spec.ServerName(name))
}

// Client is a client of an administrator.
func (r *Rig) Client() kubernetes.Interface { return r.rig.Client() }

// Kubeconfig is the path of a kubeconfig for an administrator. It goes with the rig.
func (r *Rig) Kubeconfig() string { return r.rig.Kubeconfig() }

// ClientConfig is the configuration of one of the Clients of the topology: that of an
// administrator, through the client's own link.
func (r *Rig) ClientConfig(client string) (*rest.Config, error) {
	path, err := r.rig.ClientKubeconfig(client)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// KubeletConfig is the configuration of an administrator's client for what the kubelet of
// a node serves itself: /pods, /stats/summary, /metrics and the like.
func (r *Rig) KubeletConfig(node string) (*rest.Config, error) {
	return r.rig.Endpoint(spec.KubeletPrefix + node)
}

// KubeletDir is the directory of a node's kubelet (--root-dir), in which it has its
// sockets: pod-resources/kubelet.sock, device-plugins/kubelet.sock, pods-api/pods-api.sock.
func (r *Rig) KubeletDir(node string) (string, error) { return r.rig.KubeletDir(node) }

// Events is the record so far.
func (r *Rig) Events() []record.Event { return r.history.Events() }

// Observe has the objects of Topology.Observe recorded whose resources the API server has
// only now: those of custom resources that a test has installed.
func (r *Rig) Observe(ctx context.Context) error { return r.rig.Observe(ctx) }

// cleanupLimit is how long what is left to a cleanup may take.
const cleanupLimit = 30 * time.Second

// Namespace makes a namespace for a test, in which pods can be created, and deletes it
// when the test ends. If the test fails, it logs what happened in it.
func (r *Rig) Namespace(t testing.TB) string {
	t.Helper()
	r.mu.Lock()
	r.spaces++
	name := fmt.Sprintf("%s-%d", strings.ToLower(dirName(t.Name())), r.spaces)
	r.mu.Unlock()
	if err := r.rig.EnsureNamespace(t.Context(), name); err != nil {
		t.Fatalf("skewtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit) // that of the test has ended
		defer cancel()
		r.removeNamespace(ctx, name)
	})
	r.follow(t, name)
	return name
}

// removeNamespace deletes the pods of a namespace and the namespace, and does not wait
// until they are gone. What can't be deleted, because a test has stopped an API server,
// goes with the rig.
func (r *Rig) removeNamespace(ctx context.Context, name string) {
	soon, core := int64(1), r.Client().CoreV1()
	_ = core.Pods(name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &soon}, metav1.ListOptions{})
	_ = core.Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
}
