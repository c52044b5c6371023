package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// ControlPlane is a control plane that several cells use, each with nodes and namespaces of its own.
type ControlPlane struct {
	*Provider
	rig    *cluster.Cluster
	router *provider.Router
	// began is how long the logs of its components were when it had started.
	began map[string]int

	mu   sync.Mutex
	last int // the number of the cell that came last
}

// suffixes matches the suffixes of cells on one control plane: nothing that Kubernetes or a scenario creates has such a name.
var suffixes = regexp.MustCompile(`-skw[0-9]{4}\b`)

// newRouter returns the recorder of a control plane: what is no cell's is about the control plane.
func newRouter() *provider.Router { return &provider.Router{Owner: ownerOf} }

// ownerOf returns the suffix of the cell that an object is of. It is empty for what is no cell's.
func ownerOf(_ string, payload record.Payload) string {
	object, is := payload.(record.ObjectObserved)
	if !is {
		return ""
	}
	if of := suffixes.FindString(object.Namespace); of != "" {
		return of
	}
	return suffixes.FindString(object.Name)
}

// Share starts the control plane that the topologies of cells agree on.
func (p *Provider) Share(ctx context.Context, cells []plan.Cell) (*ControlPlane, error) {
	started, err := mayStart(ctx)
	if err != nil {
		return nil, err
	}
	defer started()
	m := provider.WatchMachine(nil)
	defer m.Stop()
	ctx, cancel := m.WithTimeout(ctx, startLimit, fmt.Errorf("not up within %s", startLimit))
	defer cancel()
	c := &ControlPlane{Provider: p, router: newRouter(), began: make(map[string]int)}
	c.rig, err = cluster.New(ctx, cluster.Config{
		Topology: schedule.Shared(cells), AllowHost: p.AllowHost, Binary: p.Binary, TempDir: p.TempDir, Recorder: c.router,
		Purpose: fmt.Sprintf("shared-by-%d-cells", len(cells)), ReportDir: p.ReportDir,
	})
	if err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", err)
	}
	if c.began, err = logLengths(c.rig); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// logLengths returns how long the logs of a rig's components are.
func logLengths(rig *cluster.Cluster) (map[string]int, error) {
	all := make(map[string]int)
	for _, i := range rig.Instances() {
		text, err := rig.Log(i.Name)
		if err != nil {
			return nil, err
		}
		all[i.Name] = len(text)
	}
	return all, nil
}

// Healthy reports whether the control plane can have another cell.
func (c *ControlPlane) Healthy() bool { return c.rig.Context().Err() == nil }

// Close ends the control plane.
func (c *ControlPlane) Close() error { return c.rig.Close() }

// Start starts the nodes of a cell. Its record begins with the control plane, and has the names that the cell gave its
// nodes and namespaces.
func (c *ControlPlane) Start(ctx context.Context, t provider.Tenant) (provider.Session, error) {
	c.mu.Lock()
	c.last++
	at := &place{ControlPlane: c, suffix: fmt.Sprintf("-skw%04d", c.last)}
	c.mu.Unlock()
	var err error
	if at.logs, err = logLengths(c.rig); err != nil {
		return nil, err
	}
	t.History.Without(added(at.suffix)...)
	at.leave = c.router.Join(at.suffix, t.History, append(slices.Clone(record.Observed), schedule.Observed(t.Cell.Topology)...))
	s, err := c.start(ctx, t, at)
	if err != nil {
		at.leave()
		return nil, err
	}
	return s, nil
}

// added returns the texts that the record of a cell leaves out: what is not of its scenario.
func added(suffix string) []string {
	label := fmt.Sprintf("%q:%q", cluster.RigLabel, strings.TrimPrefix(suffix, "-"))
	selector := `"nodeSelector":{` + label + `}`
	return []string{selector + ",", "," + selector, label + ",", "," + label, suffix}
}

// place is the place of a cell on a control plane.
type place struct {
	*ControlPlane
	suffix string
	// logs is how long the logs of the components were when the cell came.
	logs map[string]int
	// leave ends what the cell's record gets of the control plane.
	leave func()
}

// names returns the names that a cell's nodes and namespaces have there.
func (p *place) names(cell plan.Cell) provider.Names {
	n := provider.Names{Suffix: p.suffix, Node: func(name string) string {
		if slices.ContainsFunc(cell.Topology.Nodes, func(n record.Node) bool { return n.Name == name }) {
			return name + p.suffix
		}
		return name
	}}
	if cell.Topology.Scheduler {
		n.Confine = p.confine
	}
	return n
}

// confine makes a scheduler choose the cell's own nodes for a pod.
func (p *place) confine(pod map[string]any) {
	selector, _ := pod["nodeSelector"].(map[string]any)
	if selector == nil {
		selector = make(map[string]any)
	}
	selector[cluster.RigLabel] = strings.TrimPrefix(p.suffix, "-")
	pod["nodeSelector"] = selector
}

// own returns the part of a component's log that is the cell's: of the control plane how it started, and what it has logged
// since the cell came, without lines about other cells.
func (p *place) own(component string, text []byte) []byte {
	if at, shared := p.logs[component]; shared {
		began := min(p.began[component], at)
		text = slices.Concat(text[:began], text[at:])
	}
	var own []byte
	for line := range bytes.Lines(text) {
		of := suffixes.Find(line)
		if of == nil || bytes.Contains(line, []byte(p.suffix)) {
			own = append(own, line...)
		}
	}
	return bytes.ReplaceAll(own, []byte(p.suffix), nil)
}

// keepLogs leaves a cell's logs with its record.
func (p *place) keepLogs(s *Session, dir string) error {
	var failures []error
	for _, i := range s.Cluster.Instances() {
		text, err := s.Log(i.Name)
		if err == nil {
			err = files.WriteBytes(filepath.Join(dir, reports.LogsDir, cluster.LogName(i.Name)), 0o600, text)
		}
		failures = append(failures, err)
	}
	return errors.Join(append(failures, p.nameOutput(filepath.Join(dir, reports.LogsDir, cluster.OutputDir)))...)
}

// nameOutput gives what the cell's containers wrote the names that the scenario has.
func (p *place) nameOutput(dir string) error {
	pods, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	failures := []error{err}
	for _, pod := range pods {
		named := strings.ReplaceAll(pod.Name(), p.suffix, "")
		failures = append(failures, os.Rename(filepath.Join(dir, pod.Name()), filepath.Join(dir, named)))
	}
	return errors.Join(append(failures, filepath.WalkDir(dir, p.nameIn))...)
}

// nameIn is nameOutput for the content of a file.
func (p *place) nameIn(path string, entry fs.DirEntry, err error) error {
	if err != nil || entry.IsDir() {
		return err
	}
	text, err := files.Read(path, files.MaxLog)
	if err != nil || !bytes.Contains(text, []byte(p.suffix)) {
		return err
	}
	return files.WriteBytes(path, 0o600, bytes.ReplaceAll(text, []byte(p.suffix), nil))
}
