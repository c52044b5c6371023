package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/scenarios/ask"
)

// side is a control plane that goes to a release and back, or stays.
type side struct {
	Config

	to        release.Version // of the control plane; From, of the twin
	nodesTo   release.Version // the release before the upgrade, of the twin
	cluster   *cluster.Cluster
	out       Output
	client    *client
	mocks     *mocks
	operators *operators
	// endpoints are where webhooks are served, by the Service.
	endpoints map[string]rehearse.Endpoint
	items     []rehearse.Item
	stored    rehearse.Storing
	side      rehearse.Side
	exited    bool
}

// start starts a side. It has to be closed.
func (cfg Config) start(ctx context.Context, does string, to, nodesTo release.Version, out Output) (*side, error) {
	s := &side{Config: cfg, to: to, nodesTo: nodesTo, out: out}
	config, err := cfg.Cluster(cfg.topology(cfg.observed()), out.History, s.pod)
	if err != nil {
		return nil, err
	}
	config.Binary, config.Purpose, config.LogDir, config.Machine = cfg.Binary, "rehearse/"+does, out.LogDir, &machine
	for _, o := range cfg.Operators {
		config.Clients, config.Via[o.Name] = append(config.Clients, o.Name), []string{"b"}
	}
	if s.cluster, err = cluster.New(ctx, config); err != nil {
		return nil, fmt.Errorf("starting a control plane (%s): %w", does, err)
	}
	if s.client, err = newClient(s.cluster); err != nil {
		return nil, errors.Join(err, s.cluster.Close())
	}
	s.mocks = startMocks(s.cluster.Client())
	return s, s.prepareOperators()
}

// pod reads a pod for the container runtime.
func (s *side) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	if s.cluster == nil {
		return nil, errors.New("the API server is about to start")
	}
	return s.cluster.Client().CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

// run runs a stage. That a component ends by itself ends the side.
func (s *side) run(ctx context.Context, stage rehearse.Stage) error {
	bound, cancel := s.cluster.Bind(ctx)
	defer cancel()
	seen := rehearse.StageSeen{StageResult: rehearse.StageResult{Stage: stage}, Began: time.Now()}
	err := s.operators.await(bound, soon)
	if err == nil {
		err = s.does(bound, stage.Name, &seen)
	}
	if err == nil {
		seen.Restless, err = s.rest(bound)
	}
	if err == nil {
		err = errors.Join(s.operators.await(bound, soon), s.read(bound, &seen))
	}
	seen.Ended, seen.Exits = time.Now(), s.operators.take()
	seen.Seconds = seen.Ended.Sub(seen.Began).Round(time.Second / 10).Seconds()
	s.side.Stages = append(s.side.Stages, seen)
	return s.exit(ctx, err)
}

// exit keeps an error that says that a component ended by itself.
func (s *side) exit(ctx context.Context, err error) error {
	if cause := context.Cause(s.cluster.Context()); cause != nil {
		err = cause
	}
	if exit, is := errors.AsType[*process.ExitError](err); is && ctx.Err() == nil {
		s.exited, s.side.Exit = true, exit.Error()
		return nil
	}
	return err
}

// does does what a stage is about.
func (s *side) does(ctx context.Context, stage rehearse.StageName, seen *rehearse.StageSeen) error {
	switch stage {
	case rehearse.Stored:
		return s.store(ctx, seen)
	case rehearse.HalfWay:
		return s.restart(ctx, s.to, serverB)
	case rehearse.Upgraded:
		return s.restart(ctx, s.to, serverA, manager, scheduler)
	case rehearse.Nodes:
		return s.changeNodes(ctx, s.nodesTo, seen)
	case rehearse.Changed:
		return s.ask(ctx, 1, seen)
	case rehearse.NodesBack:
		return s.changeNodes(ctx, s.nodes(), seen)
	case rehearse.HalfWayBack:
		return s.restart(ctx, s.From, scheduler, manager, serverB)
	case rehearse.Back:
		return s.restart(ctx, s.From, serverA)
	case rehearse.ChangedAgain:
		return s.ask(ctx, 2, seen)
	case rehearse.Forward:
		if err := s.restart(ctx, s.to, serverA, serverB, manager, scheduler); err != nil {
			return err
		}
		return s.changeNodes(ctx, s.nodesTo, seen)
	default:
		return s.deleteAll(ctx)
	}
}

// gateNames are the gates that are set in any release.
func (cfg Config) gateNames() (names []string) {
	for _, gates := range cfg.Gates {
		names = append(names, gates.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// restart restarts components as a release, one after the other.
func (s *side) restart(ctx context.Context, as release.Version, components ...string) error {
	for _, name := range components {
		change := cluster.Change{Version: as, Gates: s.Gates[as], Unset: s.gateNames()}
		if err := s.cluster.Restart(ctx, name, change); err != nil {
			return err
		}
	}
	return nil
}

// Objects are at rest if none is written for still, and each pod is ready or has had the time to be. That is waited for until limit.
const (
	still = 3 * time.Second
	limit = time.Minute
)

// rest waits until objects are at rest, and reports whether they are not.
func (s *side) rest(ctx context.Context) (restless bool, _ error) {
	from := time.Now()
	writes, n := newWrites(from), len(s.out.History.Events())
	for time.Since(from) < limit {
		if err := ask.Sleep(ctx, often); err != nil {
			return true, err
		}
		events := s.out.History.Events()
		writes.add(events[n:], time.Now())
		n = len(events)
		quiet := time.Since(writes.last)
		if quiet < still {
			if writes.areEndless() {
				return true, nil
			}
			continue
		}
		if wait, err := s.patience(ctx); err == nil && quiet >= wait {
			return false, nil
		}
	}
	return true, nil
}

// patience is how long it takes at most until a pod that runs is found to be ready.
func (s *side) patience(ctx context.Context) (longest time.Duration, _ error) {
	pods, err := s.cluster.Client().CoreV1().Pods("").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return 0, err
	}
	for _, pod := range pods.Items {
		for _, status := range pod.Status.ContainerStatuses {
			i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == status.Name })
			if i < 0 || status.State.Running == nil || status.Ready {
				continue
			}
			for _, probe := range []*corev1.Probe{pod.Spec.Containers[i].StartupProbe, pod.Spec.Containers[i].ReadinessProbe} {
				if probe != nil {
					longest = max(longest, time.Duration(probe.InitialDelaySeconds+probe.PeriodSeconds*max(probe.SuccessThreshold, 1))*time.Second+still)
				}
			}
		}
	}
	return longest, nil
}

// end closes a side, and folds its record.
func (s *side) end(into *rehearse.Side) error {
	err := s.close()
	s.out.History.End()
	into.Timeline = timeline.Of(s.out.History.Events())
	return errors.Join(err, s.out.History.Err())
}

// close closes a side. One that has not started is nil.
func (s *side) close() error {
	if s == nil {
		return nil
	}
	err := s.operators.stop()
	s.mocks.stop()
	return errors.Join(err, s.cluster.Close())
}
