package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
)

// PlanFormat is the version of the format of a stored plan. It changes when a
// field gets another meaning, or is gone: not when there are more than before.
const PlanFormat = 1

// Plan is the plan of a cell as a run stores it in plan.json: what the cell was
// to do, on which rig, and what had to hold. It explains the run without the
// scenario of today.
type Plan struct {
	Format int `json:"format"`
	// ID is the cell's id: the scenario's id followed by <axis>:<value> for each
	// axis.
	ID       string `json:"id"`
	Scenario string `json:"scenario"`
	// Area is the first segment of the id, such as "kep-4939".
	Area  string `json:"area"`
	Title string `json:"title"`
	// Control is the id of the scenario that is the negative control. If unset,
	// there is none.
	Control string            `json:"control,omitempty"`
	Axes    map[string]string `json:"axes,omitempty"`
	// File is the scenario file, and Text what it held when the plan was made.
	File     string   `json:"file"`
	Text     string   `json:"text,omitempty"`
	Topology Topology `json:"topology"`
	Images   []Image  `json:"images,omitempty"`
	Steps    []Step   `json:"steps"`
}

// Garden is what makes a rig a shoot.
type Garden struct {
	// Watchdog is the release of dependency-watchdog. If unset, there is none.
	Watchdog release.Version `json:"watchdog,omitempty"`
	// Prober is the watchdog's configuration, with the times of this rig.
	Prober     Prober         `json:"prober"`
	Dependents []Dependent    `json:"dependents,omitempty"` // sorted by name
	Shoot      map[string]any `json:"shoot,omitempty"`
	// Via are the API servers of the shoot that the watchdog connects to. If unset, the first
	// one.
	Via []string `json:"via,omitempty"`
}

// Dependent is a Deployment of the shoot's control plane.
type Dependent struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas"`
}

// Prober is the configuration file of dependency-watchdog's prober, field by
// field (api/prober/types.go). What is unset is the watchdog's default
// (internal/prober/config.go), but for the two fields that have none.
type Prober struct {
	// KubeConfigSecretName is the secret that leads to the shoot. If unset,
	// dependency-watchdog-probe.
	KubeConfigSecretName        string            `json:"kubeConfigSecretName,omitempty"`
	ProbeInterval               behavior.Duration `json:"probeInterval,omitempty"`
	InitialDelay                behavior.Duration `json:"initialDelay,omitempty"`
	ProbeTimeout                behavior.Duration `json:"probeTimeout,omitempty"`
	BackoffJitterFactor         *float64          `json:"backoffJitterFactor,omitempty"`
	KCMNodeMonitorGraceDuration behavior.Duration `json:"kcmNodeMonitorGraceDuration,omitempty"`
	NodeLeaseFailureFraction    *float64          `json:"nodeLeaseFailureFraction,omitempty"`
	// DependentResourceInfos are what is scaled. If unset, what a Gardener scales:
	// down, first machine-controller-manager and cluster-autoscaler, which may be
	// missing, and then kube-controller-manager; up, kube-controller-manager,
	// machine-controller-manager half a minute later, and cluster-autoscaler.
	DependentResourceInfos []DependentResource `json:"dependentResourceInfos,omitempty"`
}

// DependentResource is what the prober scales.
type DependentResource struct {
	Ref      ResourceRef `json:"ref"`
	Optional bool        `json:"optional,omitempty"`
	// ScaleUp and ScaleDown say in which order. The watchdog wants both.
	ScaleUp   *Scaling `json:"scaleUp,omitempty"`
	ScaleDown *Scaling `json:"scaleDown,omitempty"`
}

// ResourceRef names a Deployment.
type ResourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Scaling is the order of one direction of scaling.
type Scaling struct {
	// Level is the turn: the lowest comes first.
	Level        int               `json:"level"`
	InitialDelay behavior.Duration `json:"initialDelay,omitempty"`
	Timeout      behavior.Duration `json:"timeout,omitempty"`
}

// Link is the way from a component to an API server, from an API server to etcd, or from a kubelet
// to its container runtime.
type Link struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// String is what the link is called in the record.
func (l Link) String() string { return l.From + "->" + l.To }

// Image maps the images that match a pattern to a fake server.
type Image struct {
	Image  string              `json:"image"`
	Listen []behavior.Listener `json:"listen,omitempty"`
	// HealthProbe is the release of grpc_health_probe that commands in containers of
	// the image run. If unset, an imitation of it.
	HealthProbe release.Version `json:"healthProbe,omitempty"`
}

// Step is one step of a plan.
type Step struct {
	// Number counts from 1. A step that is not for this cell leaves a gap.
	Number int `json:"number"`
	// Name is the scenario's name for the step, or its number.
	Name string `json:"name"`
	// Line is the line of the step in the scenario file.
	Line int `json:"line,omitempty"`
	Run  Run `json:"run,omitempty"`
	// Via is the API server that is asked, where they have names. If unset, the first one.
	Via string `json:"via,omitempty"`
	// Refusable is true if the cell continues whatever an API server answers.
	Refusable bool `json:"refusable,omitempty"`
	// Kind is the field of the scenario language that the step has: "apply", "cut".
	Kind string `json:"kind"`
	// Action holds what the kind of the step needs.
	Action json.RawMessage `json:"action,omitempty"`
	// Description says in one line what the step does.
	Description string `json:"description"`
	// Checks are what is watched during the step.
	Checks []Check `json:"checks,omitempty"`
	// Components are what runs, with its release and gates, once the step is done,
	// sorted by name.
	Components []Component `json:"components,omitempty"`
	// Changes are what the step changes about them, one by one: "kubelet/node-a
	// v1.90.1 -> v1.91.0".
	Changes []string `json:"changes,omitempty"`
}

// Run says when a step is taken that is not just one of a row.
type Run string

// When a step is taken.
const (
	// Catch is for a step that is taken only after something went wrong: a step
	// that could not be done, or a check that did not hold. It gathers evidence,
	// and has no part in the verdict.
	Catch Run = "catch"
	// Cleanup is for a step that is taken whatever happened before.
	Cleanup Run = "cleanup"
)

// Component is a component as it is in force at a step.
type Component struct {
	Name    string          `json:"name"`
	Version release.Version `json:"version,omitempty"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// Via are the names of the API servers that it connects to, where there are several:
	// b is kube-apiserver/b. If unset, the first one.
	Via []string `json:"via,omitempty"`
	// Settings are what it is given beside its gates.
	Settings
}

// Effective is the release of the component with what it emulates.
func (c Component) Effective() release.Effective {
	return c.EffectiveOf(c.Version)
}

// Check is one thing that must hold.
type Check struct {
	ID string `json:"id"`
	// Requirement is the id of the ledger's statement that the check proves. If
	// unset, it proves none.
	Requirement string `json:"requirement,omitempty"`
	// Observe is an expression in CEL over the record.
	Observe string `json:"observe"`
	// Is is the wanted value, unless Must or Times says what must hold.
	Is any `json:"is,omitempty"`
	// Must is an expression in CEL with "it" bound to what was observed.
	Must string `json:"must,omitempty"`
	Mode Mode   `json:"mode"`
	// Span is how long the check is watched: the deadline of eventually and at least,
	// and the length of the others.
	Span behavior.Duration `json:"span,omitempty"`
	// Times is by how much the number may grow, for "at most", or has to, for "at least".
	Times int `json:"times,omitempty"`
	// Line is the line of the check in the scenario file.
	Line int `json:"line,omitempty"`
	// Description says in one line what must hold, and when.
	Description string `json:"description"`
}

// Mode says when a check must hold.
type Mode string

// The modes of a check.
const (
	Now        Mode = "now"
	Eventually Mode = "eventually"
	Always     Mode = "always"
	Never      Mode = "never"
	AtMost     Mode = "at most"
	AtLeast    Mode = "at least"
)

// Awaits reports whether something has to come within the time, where the other modes
// want it to stay as it is.
func (m Mode) Awaits() bool { return m == Eventually || m == AtLeast }

// Grows reports whether a number is compared with itself when the check began. Other modes ask whether something is so.
func (m Mode) Grows() bool { return m == AtMost || m == AtLeast }

// Write writes the plan as indented JSON.
func (p Plan) Write(out io.Writer) error {
	p.Format = PlanFormat
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(p)
}

// ReadPlanBelow reads a plan from a file below a report directory. A link that leads out of the
// directory is refused. Where no such file is, as releases before there was one left it, it
// returns nil.
func ReadPlanBelow(dir, name string) (*Plan, error) {
	f, err := files.OpenBelow(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := ReadPlan(files.Limit(f, files.MaxReport))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return &p, nil
}

// ReadPlan reads a stored plan. One of a newer format than this is an error that
// wraps ErrFormat.
func ReadPlan(in io.Reader) (Plan, error) {
	var p Plan
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return Plan{}, err
	}
	if p.Format < 1 || p.Format > PlanFormat {
		return Plan{}, fmt.Errorf("%w: the plan is of format %d, and this skewrig reads format %d and earlier ones", ErrFormat, p.Format, PlanFormat)
	}
	for i, s := range p.Steps {
		var compact bytes.Buffer
		if len(s.Action) == 0 {
			continue
		}
		if err := json.Compact(&compact, s.Action); err != nil {
			return Plan{}, err
		}
		p.Steps[i].Action = compact.Bytes()
	}
	return p, nil
}

// Step returns the step with a number, and whether there is one.
func (p Plan) Step(number int) (Step, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Number == number })
	if i < 0 {
		return Step{}, false
	}
	return p.Steps[i], true
}

// Same reports whether two steps do the same to a rig. What they wait for and
// what they check may differ: neither changes the rig.
func (s Step) Same(other Step) bool {
	if s.Name != other.Name || s.Kind != other.Kind {
		return false
	}
	return s.Kind == "wait" || bytes.Equal(s.Action, other.Action)
}
