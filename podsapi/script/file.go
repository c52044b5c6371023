package script

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// APIVersion and Kind say what a file is, as Kubernetes objects do.
const (
	APIVersion = "skewrig.dev/v1alpha1"
	Kind       = "PodsAPIScript"
)

// file is a script as it is written.
type file struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Template   map[string]any `json:"template,omitempty"`
	Steps      []step         `json:"steps"`
}

// step has one action.
type step struct {
	Ready   *bool    `json:"ready,omitempty"`
	Add     *add     `json:"add,omitempty"`
	Change  *change  `json:"change,omitempty"`
	Remove  *remove  `json:"remove,omitempty"`
	Churn   *churn   `json:"churn,omitempty"`
	Disturb *disturb `json:"disturb,omitempty"`
	Restart *restart `json:"restart,omitempty"`
	Wait    *span    `json:"wait,omitempty"`
}

// actions is how many actions a step has.
func (s step) actions() (count int) {
	for _, action := range reflect.ValueOf(s).Fields() {
		if !action.IsNil() {
			count++
		}
	}
	return count
}

// add adds pods: one, count numbered ones, or that of a manifest.
type add struct {
	Name      string          `json:"name,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Count     int             `json:"count,omitempty"`
	Phase     corev1.PodPhase `json:"phase,omitempty"`
	Ready     *bool           `json:"ready,omitempty"`
	Pod       map[string]any  `json:"pod,omitempty"`
}

// change changes what is set of a pod.
type change struct {
	Name     string            `json:"name,omitempty"`
	Phase    corev1.PodPhase   `json:"phase,omitempty"`
	Ready    *bool             `json:"ready,omitempty"`
	Restarts *int32            `json:"restarts,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

type remove struct {
	Name string `json:"name,omitempty"`
}

// churn changes running pods by chance, so many times a second.
type churn struct {
	Rate int   `json:"rate,omitempty"`
	For  span  `json:"for,omitempty"`
	Seed int64 `json:"seed,omitempty"`
}

type disturb struct {
	Delay      span `json:"delay,omitempty"`
	BreakAfter int  `json:"breakAfter,omitempty"`
}

// restart takes the server away, has it come back without knowing its pods, and then
// with them.
type restart struct {
	Down         span `json:"down,omitempty"`
	Initializing span `json:"initializing,omitempty"`
}

// span is a length of time, written as in "1m30s".
type span time.Duration

// maxSpan bounds how long one step may take.
const maxSpan = 24 * time.Hour

// UnmarshalJSON reads a number with a unit. A bare number is an error, since its unit
// would be a guess.
func (s *span) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxSpan {
		return fmt.Errorf("%q is not a duration up to %s: write it like 500ms, 2s or 1m30s", text, maxSpan)
	}
	*s = span(d)
	return nil
}
