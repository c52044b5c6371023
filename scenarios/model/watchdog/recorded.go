package watchdog

import (
	"encoding/json"
	"time"

	"github.com/skewrig/skewrig/record"
)

// ConfigOf is a prober's configuration as the models have it.
func ConfigOf(p record.Prober) Config {
	cfg := Config{
		Grace: time.Duration(p.KCMNodeMonitorGraceDuration), Interval: time.Duration(p.ProbeInterval),
		InitialDelay: time.Duration(p.InitialDelay), Timeout: time.Duration(p.ProbeTimeout),
	}
	if p.NodeLeaseFailureFraction != nil {
		cfg.Fraction = *p.NodeLeaseFailureFraction
	}
	if p.BackoffJitterFactor != nil {
		cfg.Jitter = *p.BackoffJitterFactor
	}
	for _, d := range p.DependentResourceInfos {
		cfg.Dependents = append(cfg.Dependents, Dependent{
			Name: d.Ref.Name, Optional: d.Optional, Up: scaling(*d.ScaleUp), Down: scaling(*d.ScaleDown),
		})
	}
	return cfg
}

func scaling(s record.Scaling) Scaling {
	return Scaling{Level: s.Level, InitialDelay: time.Duration(s.InitialDelay)}
}

// ClusterOf is what a Cluster says of its shoot.
func ClusterOf(object map[string]any) (*Cluster, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var c struct {
		Spec struct {
			Shoot struct {
				Metadata struct{ DeletionTimestamp string }
				Spec     struct {
					Hibernation struct{ Enabled bool }
					Provider    struct {
						Workers []struct {
							Name                     string
							MachineControllerManager *struct{ NodeConditions []string }
						}
					}
					Kubernetes struct {
						KubeControllerManager *struct{ NodeMonitorGracePeriod string }
					}
				}
				Status struct {
					IsHibernated  bool
					LastOperation LastOperation
				}
			}
		}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	s := c.Spec.Shoot
	cluster := &Cluster{
		Deleting: s.Metadata.DeletionTimestamp != "", Hibernated: s.Status.IsHibernated,
		Hibernation: s.Spec.Hibernation.Enabled, LastOperation: s.Status.LastOperation,
	}
	for _, w := range s.Spec.Provider.Workers {
		worker := Worker{Name: w.Name, Settings: w.MachineControllerManager != nil}
		if worker.Settings {
			worker.Conditions = w.MachineControllerManager.NodeConditions
		}
		cluster.Workers = append(cluster.Workers, worker)
	}
	if kcm := s.Spec.Kubernetes.KubeControllerManager; kcm != nil {
		if cluster.Grace, err = time.ParseDuration(kcm.NodeMonitorGracePeriod); err != nil {
			return nil, err
		}
	}
	return cluster, nil
}

// NodeOf is what the prober sees of a node, from the JSON of the object or of a patch. What
// is of another form, or taken away, is as if it were not there.
func NodeOf(name string, object []byte) Node {
	var o struct {
		Metadata struct {
			Labels      map[string]string
			Annotations map[string]*string
		}
		Status struct {
			Conditions []struct{ Type, Status, Reason string }
		}
	}
	_ = json.Unmarshal(object, &o)
	n := Node{
		Name: name, Worker: o.Metadata.Labels["worker.gardener.cloud/pool"],
		Annotations: make(map[string]string), Conditions: make(map[string]Condition),
	}
	for key, value := range o.Metadata.Annotations {
		if value != nil {
			n.Annotations[key] = *value
		}
	}
	for _, c := range o.Status.Conditions {
		n.Conditions[c.Type] = Condition{Status: c.Status, Reason: c.Reason}
	}
	return n
}
