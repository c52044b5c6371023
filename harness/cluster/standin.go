package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// program is what a component runs as: a process, or a stand-in.
type program interface {
	Stop() error
	Kill() error
	PID() int
	Exited() <-chan struct{}
	Exit() *process.ExitError
}

// launchStandIn starts what is there in place of a kubelet, with a log that ends
// with it.
func (c *Cluster) launchStandIn(ctx context.Context, comp *component) (program, record.ComponentStarted, error) {
	log, err := os.OpenFile(c.logFile(comp.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, record.ComponentStarted{}, err
	}
	info := comp.info
	info.Gates, info.Log = comp.gates, log
	s, err := comp.standIn(ctx, info)
	if err != nil {
		err = fmt.Errorf("starting what stands in for %s: %w", comp.name, err)
		return nil, record.ComponentStarted{}, errors.Join(err, log.Close())
	}
	p := &standIn{StandIn: s, name: comp.name, log: log, exited: make(chan struct{})}
	return p, record.ComponentStarted{Version: release.Reference, Source: "skewrig"}, nil
}

// standIn is a stand-in as a program. It ends when it is told to, in either way.
type standIn struct {
	StandIn
	name   string
	log    *os.File
	once   sync.Once
	exited chan struct{}
}

func (s *standIn) Kill() (err error) {
	s.once.Do(func() {
		err = errors.Join(s.Close(), s.log.Close())
		close(s.exited)
	})
	return err
}

func (s *standIn) Stop() error { return s.Kill() }

// PID is that of this process, of which it is a part.
func (s *standIn) PID() int { return os.Getpid() }

func (s *standIn) Exited() <-chan struct{} { return s.exited }

func (s *standIn) Exit() *process.ExitError {
	return &process.ExitError{Name: s.name, State: "ended"}
}

// StandInMetrics writes the metrics of what stands in for a kubelet, and reports
// whether the component is that.
func (c *Cluster) StandInMetrics(name string, w io.Writer) (is bool, err error) {
	comp, err := c.component(name)
	if err != nil {
		return false, err
	}
	comp.mu.Lock()
	defer comp.mu.Unlock()
	if comp.standIn == nil {
		return false, nil
	}
	s, runs := comp.running.(*standIn)
	if !runs {
		return true, fmt.Errorf("%s is not running", name)
	}
	return true, s.WriteMetrics(w)
}

// Log returns what a component has said so far.
func (c *Cluster) Log(name string) ([]byte, error) {
	if _, err := c.component(name); err != nil {
		return nil, err
	}
	return os.ReadFile(c.logFile(name))
}
