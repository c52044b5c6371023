package container

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Variable is the environment variable of a container that has the player image: its value is what
// the container plays, Plays as JSON.
const Variable = "SKEWRIG_PLAYS"

// Plays is what a container plays whose image can play any: there, the image has no file that says
// it, and the node no socket for what is recorded, which goes into the container's output.
type Plays struct {
	File
	// Mark is the prefix of the lines of the record in the output, behind a record separator
	// (U+001E). No other program knows it.
	Mark string `json:"mark"`
	// Container is the name of the container in its pod.
	Container string `json:"container"`
	// Command, Args and Policy, by which the image is pulled, are those of the container in the
	// scenario. If unset, it has none.
	Command []string `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	Policy  string   `json:"policy,omitempty"`
	// Held says that the container has a hook that is not of the scenario (Hold).
	Held bool `json:"held,omitempty"`
}

// Hold is a command that returns when the program of its container has come up. As a hook after the start of
// a container (postStart), it holds up probes until then, as skewrig's own runtimes do: a program takes a moment
// that depends on how busy the node is, and a probe in that moment says nothing of what is tested.
var Hold = []string{Program, holdArgument}

const holdArgument = "--skewrig-hold"

// Value is the value of the variable. It has no $, of which a kubelet would make something else.
func (p Plays) Value() (string, error) {
	text, err := json.Marshal(p)
	return strings.ReplaceAll(string(text), "$", `\u0024`), err
}

// ParsePlays reads the value of the variable.
func ParsePlays(value string) (p Plays, _ error) {
	if err := json.Unmarshal([]byte(value), &p); err != nil {
		return p, fmt.Errorf("reading %s: %w", Variable, err)
	}
	return p, nil
}

// socket returns the address at which the main process of the container collects what the other
// processes record. It is an abstract one, which needs no writable directory: each pod has its
// own network.
func (p Plays) socket() string { return "@skewrig-" + p.Mark + "-" + p.Container }
