package watchdog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The annotations of a dependent.
const (
	// Replicas is how many replicas it had before it was scaled down. It stays when
	// it is scaled up again.
	Replicas = "dependency-watchdog.gardener.cloud/replicas"
	// IgnoreScaling is true if the watchdog is to leave it alone. What can't be
	// read is not true.
	IgnoreScaling = "dependency-watchdog.gardener.cloud/ignore-scaling"
	// MeltdownProtection is there, with no value, while the watchdog has scaled it
	// down.
	MeltdownProtection = "dependency-watchdog.gardener.cloud/meltdown-protection-active"
)

// Resource is a dependent as the seed's API server shows it. The zero Resource is
// not there.
type Resource struct {
	Exists bool
	// Replicas is spec.replicas, and Ready status.readyReplicas.
	Replicas, Ready int
	Annotations     map[string]string
}

// Change is a request that changes a dependent: one of the three.
type Change struct {
	// Annotate sets annotations.
	Annotate map[string]string
	// Remove removes an annotation, be it there or not.
	Remove string
	// Scale is true if the dependent gets that many Replicas.
	Scale    bool
	Replicas int
}

// String is how a record tells a change: "scale to 0".
func (c Change) String() string {
	short := func(key string) string { return key[strings.LastIndex(key, "/")+1:] }
	switch {
	case c.Scale:
		return fmt.Sprintf("scale to %d", c.Replicas)
	case c.Remove != "":
		return "remove " + short(c.Remove)
	default:
		var words []string
		for _, key := range slices.Sorted(maps.Keys(c.Annotate)) {
			words = append(words, fmt.Sprintf("%s=%q", short(key), c.Annotate[key]))
		}
		return "annotate " + strings.Join(words, ", ")
	}
}

// To is the resource after the change.
func (c Change) To(r Resource) Resource {
	annotations := make(map[string]string, len(r.Annotations)+len(c.Annotate))
	maps.Copy(annotations, r.Annotations)
	maps.Copy(annotations, c.Annotate)
	delete(annotations, c.Remove)
	r.Annotations = annotations
	if c.Scale {
		r.Replicas = c.Replicas
	}
	return r
}

var errNotThere = errors.New("it is not there")

// Changes are the requests that an operation sends for a dependent, in this
// order, given what is there; and whether it then waits for its replicas.
// Source: internal/prober/scaler/scale.go.
func (b Behavior) Changes(op Operation, d Dependent, r Resource) (changes []Change, waits bool, err error) {
	switch ignored, _ := strconv.ParseBool(r.Annotations[IgnoreScaling]); {
	case !r.Exists && d.Optional:
		return nil, false, nil
	case !r.Exists:
		return nil, false, errNotThere
	case ignored:
		return b.leftover(r), false, nil
	case op == ScaleDown && r.Replicas > 0:
		return b.down(r), true, nil
	case op == ScaleDown:
		return nil, b.Waits, nil
	case r.Replicas > 0:
		return b.leftover(r), b.Waits, nil
	default:
		changes, err = b.up(r)
		return changes, len(changes) > 0, err
	}
}

// leftover removes the mark of a dependent that should have none.
func (b Behavior) leftover(r Resource) []Change {
	if _, marked := r.Annotations[MeltdownProtection]; marked && b.Marks {
		return []Change{{Remove: MeltdownProtection}}
	}
	return nil
}

func (b Behavior) down(r Resource) []Change {
	remember := map[string]string{Replicas: strconv.Itoa(r.Replicas)}
	if b.Marks {
		remember[MeltdownProtection] = ""
	}
	return []Change{{Annotate: remember}, {Scale: true, Replicas: 0}}
}

func (b Behavior) up(r Resource) ([]Change, error) {
	remembered, ok := r.Annotations[Replicas]
	n := 1
	switch {
	case ok:
		var err error
		if n, err = strconv.Atoi(remembered); err != nil {
			return nil, fmt.Errorf("how many replicas it had: %w", err)
		}
	case !b.Foreign:
		return nil, nil
	}
	changes := []Change{{Scale: true, Replicas: n}}
	if b.Marks {
		changes = append(changes, Change{Remove: MeltdownProtection})
	}
	return changes, nil
}
