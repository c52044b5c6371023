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
