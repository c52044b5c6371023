package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// controlPlane is a control plane that several cells use, each with nodes and namespaces
// of its own.
type controlPlane struct {
	rig *cluster.Cluster
	hub *hub
	// began is how long the logs of its components were when it had started.
	began map[string]int
	// barrier is where the cells meet that change it in step. It is nil if none do.
	barrier *schedule.Barrier

	mu   sync.Mutex
	last int // the number of the cell that came last
}

// startControlPlane starts what the topologies of cells agree on.
func (e *Engine) startControlPlane(ctx context.Context, cells []plan.Cell) (*controlPlane, error) {
	started, err := mayStart(ctx)
	if err != nil {
		return nil, err
	}
	defer started()
	m := watchMachine()
	defer m.stop()
	ctx, cancel := m.withTimeout(ctx, startLimit, fmt.Errorf("not up within %s", startLimit))
	defer cancel()
	p := &controlPlane{hub: newHub(), began: make(map[string]int)}
	p.rig, err = cluster.New(ctx, cluster.Config{
		Topology: schedule.Shared(cells), AllowHost: e.AllowHost, Binary: e.Binary, TempDir: e.TempDir, Recorder: p.hub,
		Purpose: fmt.Sprintf("shared-by-%d-cells", len(cells)), ReportDir: e.Dir,
	})
	if err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", err)
	}
	for _, i := range p.rig.Instances() {
		text, err := p.rig.Log(i.Name)
		if err != nil {
			return nil, errors.Join(err, p.rig.Close())
		}
		p.began[i.Name] = len(text)
	}
	return p, nil
}

// healthy reports whether the control plane can have another cell.
func (p *controlPlane) healthy() bool { return p.rig.Context().Err() == nil }

// seat is the place of a cell on a control plane.
type seat struct {
	*controlPlane
	suffix string
	// logs is how long the logs of the components were when the cell came.
	logs map[string]int
}

// seat gives a cell its place. Its record begins with the control plane, and has the names
// that the cell gave its nodes and namespaces.
func (p *controlPlane) seat(r *run) (*seat, error) {
	p.mu.Lock()
	p.last++
	s := &seat{controlPlane: p, suffix: fmt.Sprintf("-skw%04d", p.last), logs: make(map[string]int)}
	p.mu.Unlock()
	for _, i := range p.rig.Instances() {
		text, err := p.rig.Log(i.Name)
		if err != nil {
			return nil, err
		}
		s.logs[i.Name] = len(text)
	}
	r.names.suffix = s.suffix
	r.history.Without(r.names.added()...)
	p.hub.join(s.suffix, listener{r.history, append(slices.Clone(record.Observed), schedule.Observed(r.cell.Topology)...)})
	return s, nil
}

// own is what of the log of a component is a cell's: of the control plane how it started, and
// what it said since the cell came, but for lines about other cells.
func (s *seat) own(component string, text []byte) []byte {
	if at, shared := s.logs[component]; shared {
		began := min(s.began[component], at)
		text = slices.Concat(text[:began], text[at:])
	}
	var own []byte
	for line := range bytes.Lines(text) {
		of := suffixes.Find(line)
		if of == nil || bytes.Contains(line, []byte(s.suffix)) {
			own = append(own, line...)
		}
	}
	return bytes.ReplaceAll(own, []byte(s.suffix), nil)
}

// keepLogs leaves a cell's logs with its record.
func (s *seat) keepLogs(r *run, dir string) error {
	var failures []error
	for _, i := range r.Cluster.Instances() {
		text, err := r.Log(i.Name)
		if err == nil {
			err = files.WriteBytes(filepath.Join(dir, reports.LogsDir, cluster.LogName(i.Name)), 0o600, text)
		}
		failures = append(failures, err)
	}
	return errors.Join(append(failures, s.nameOutput(filepath.Join(dir, reports.LogsDir, cluster.OutputDir)))...)
}

// nameOutput gives what the cell's containers wrote the names that the scenario has.
func (s *seat) nameOutput(dir string) error {
	pods, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	failures := []error{err}
	for _, pod := range pods {
		named := strings.ReplaceAll(pod.Name(), s.suffix, "")
		failures = append(failures, os.Rename(filepath.Join(dir, pod.Name()), filepath.Join(dir, named)))
	}
	return errors.Join(append(failures, filepath.WalkDir(dir, s.nameIn))...)
}

// nameIn is nameOutput for the content of a file.
func (s *seat) nameIn(path string, entry fs.DirEntry, err error) error {
	if err != nil || entry.IsDir() {
		return err
	}
	text, err := files.Read(path, files.MaxLog)
	if err != nil || !bytes.Contains(text, []byte(s.suffix)) {
		return err
	}
	return files.WriteBytes(path, 0o600, bytes.ReplaceAll(text, []byte(s.suffix), nil))
}

// Log is what a component has said so far, as far as it is this cell's.
func (r *run) Log(component string) ([]byte, error) {
	if r.made != nil {
		return r.made.log(r.ground, component)
	}
	c, name := r.where(component)
	text, err := c.Log(name)
	if err != nil || r.seat == nil {
		return text, err
	}
	return r.seat.own(component, text), nil
}
