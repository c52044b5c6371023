package world

import (
	"time"

	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// Deployment is something that the watchdog may scale.
type Deployment struct {
	Name string
	watchdog.Resource
	// Starts is the time that replicas take to become ready, and Stops the time
	// that they take to end. If unset, none.
	Starts, Stops time.Duration

	settles time.Duration // when as many are ready as there should be; never if they are
}

// deployments are those of the dependents, with one replica each.
func deployments(dependents []watchdog.Dependent) []Deployment {
	all := make([]Deployment, len(dependents))
	for i, d := range dependents {
		all[i] = Deployment{Name: d.Name, Resource: watchdog.Resource{Exists: true, Replicas: 1}}
	}
	return all
}

// Deployment is a Deployment as the seed's API server shows it; the zero Resource
// if there is none of that name.
func (w *World) Deployment(name string) watchdog.Resource {
	if d := w.deployment(name); d != nil {
		return d.Resource
	}
	return watchdog.Resource{}
}

// SetDeployment is a change of a Deployment by a client other than the watchdog.
// The number of ready replicas follows.
func (w *World) SetDeployment(name string, r watchdog.Resource) {
	d := w.deployment(name)
	if d == nil {
		w.deployments = append(w.deployments, Deployment{Name: name, settles: never})
		d = &w.deployments[len(w.deployments)-1]
	}
	r.Ready = d.Ready
	w.put(d, r)
}

func (w *World) deployment(name string) *Deployment {
	for i := range w.deployments {
		if w.deployments[i].Name == name {
			return &w.deployments[i]
		}
	}
	return nil
}

func (w *World) put(d *Deployment, r watchdog.Resource) {
	if !r.Exists {
		r = watchdog.Resource{Ready: r.Ready}
	}
	d.Resource = r
	switch {
	case r.Ready == r.Replicas:
		d.settles = never
	case r.Ready > r.Replicas:
		d.settles = w.now + d.Stops
	default:
		d.settles = w.now + d.Starts
	}
	if d.settles == w.now {
		w.follow(d)
	}
}

// follow makes as many replicas ready as there should be.
func (w *World) follow(d *Deployment) {
	d.settles, d.Ready = never, d.Replicas
	w.emit(ReplicasReady{d.Name, d.Ready})
	if d.Name == watchdog.ControllerManager {
		w.runController()
	}
}
