package script

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

// APIVersion and Kind say what a file is, as Kubernetes objects do.
const (
	APIVersion = "skewrig.dev/v1alpha1"
	Kind       = "PodsAPIScript"
)

// file is a script as it is written.
type file struct {
	APIVersion string    `yaml:"apiVersion"`
	Kind       string    `yaml:"kind"`
	Template   yaml.Node `yaml:"template"`
	Steps      []step    `yaml:"steps"`
}

// step has one action.
type step struct {
	Ready   *bool    `yaml:"ready"`
	Add     *add     `yaml:"add"`
	Change  *change  `yaml:"change"`
	Remove  *remove  `yaml:"remove"`
	Churn   *churn   `yaml:"churn"`
	Disturb *disturb `yaml:"disturb"`
	Restart *restart `yaml:"restart"`
	Wait    *span    `yaml:"wait"`

	line int
}

// actions is how many actions a step has.
func (s step) actions() (count int) {
	for _, has := range []bool{
		s.Ready != nil, s.Add != nil, s.Change != nil, s.Remove != nil,
		s.Churn != nil, s.Disturb != nil, s.Restart != nil, s.Wait != nil,
	} {
		if has {
			count++
		}
	}
	return count
}

// add adds pods: one, count numbered ones, or that of a manifest.
type add struct {
	Name      string          `yaml:"name"`
	Namespace string          `yaml:"namespace"`
	Count     int             `yaml:"count"`
	Phase     corev1.PodPhase `yaml:"phase"`
	Ready     *bool           `yaml:"ready"`
	Pod       yaml.Node       `yaml:"pod"`
}

// change changes what is set of a pod.
type change struct {
	Name     string            `yaml:"name"`
	Phase    corev1.PodPhase   `yaml:"phase"`
	Ready    *bool             `yaml:"ready"`
	Restarts *int32            `yaml:"restarts"`
	Labels   map[string]string `yaml:"labels"`
}

type remove struct {
	Name string `yaml:"name"`
}

// churn changes running pods by chance, so many times a second.
type churn struct {
	Rate int    `yaml:"rate"`
	For  span   `yaml:"for"`
	Seed uint64 `yaml:"seed"`
}

type disturb struct {
	Delay      span `yaml:"delay"`
	BreakAfter int  `yaml:"breakAfter"`
}

// restart takes the server away, has it come back without knowing its pods, and then
// with them.
type restart struct {
	Down         span `yaml:"down"`
	Initializing span `yaml:"initializing"`
}

// span is a length of time, written as in "1m30s".
type span time.Duration

// maxSpan bounds how long one step may take.
const maxSpan = 24 * time.Hour

// UnmarshalYAML reads a number with a unit. A bare number is an error, since its unit
// would be a guess.
func (s *span) UnmarshalYAML(n *yaml.Node) error {
	d, err := time.ParseDuration(n.Value)
	if err != nil || d < 0 || d > maxSpan {
		return wrong(n, fmt.Sprintf("%q is no length of time up to %s: write it like 500ms, 2s or 1m30s", n.Value, maxSpan))
	}
	*s = span(d)
	return nil
}

// wrong is an error that the decoder gathers with the others.
func wrong(n *yaml.Node, message string) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", n.Line, message)}}
}
