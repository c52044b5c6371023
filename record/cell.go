package record

// RigReused says that a cell has the rig that another one had before, with
// nothing of that one left. The cell's record begins with what the rig is made
// of.
type RigReused struct {
	After string `json:"after"` // the id of the other cell
}

// RigNotReused says that a cell's rig was ended although another cell could have
// had it: something of the cell was left. The other cell has a rig of its own.
type RigNotReused struct {
	Reason string `json:"reason"`
}

// StepStarted marks the begin of a step, StepDone its end.
type StepStarted struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	Action string `json:"action"`
}

// StepDone says how a step ended.
type StepDone struct {
	Number int `json:"number"`
	// Error is why the cell can't go on. Empty if the step is done.
	Error string `json:"error,omitempty"`
	// Unmet is true if what the scenario takes for granted did not come true:
	// a wait that was in vain, an object that was refused. That is not for the
	// rig to answer for, and says nothing about the checks.
	Unmet bool `json:"unmet,omitempty"`
}

// APIAnswer is what the API server, or another component, answered to a request of
// a step. The subject is the step's name.
type APIAnswer struct {
	// Object is what the request was about: resource/namespace/name. Path is what a
	// request asked for that was about no object.
	Object string `json:"object"`
	Path   string `json:"path,omitempty"`
	// Server is the API server that was asked, where they have names.
	Server string `json:"server,omitempty"`
	// Client is the program that asked, with its release, if it was not skewrig.
	Client string `json:"client,omitempty"`
	// Stored is true if the object was put into etcd, and an API server was asked for it then.
	Stored bool `json:"stored,omitempty"`
	// Code is the HTTP status. Of a client that asked several times it is that of the last
	// answer, and Codes say how often which was answered.
	Code  int            `json:"code"`
	Codes map[string]int `json:"codes,omitempty"`
	// Reason, Message and Causes are those of the Status that a refusal
	// carries.
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	Causes  []APICause `json:"causes,omitempty"`
	Warning []string   `json:"warnings,omitempty"`
	// Response is the object that was returned, if the request succeeded; or whatever
	// is at the path, as text if it is not JSON.
	Response any `json:"response,omitempty"`
	// Bytes is the size of what is at the path.
	Bytes int `json:"bytes,omitempty"`
}

// APICause is one field that the API server refused.
type APICause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// KubectlRan says that a kubectl was run, and has ended. The subject is the step's name.
type KubectlRan struct {
	// Program is what was built, with its release: "kubectl@v1.90.1".
	Program string `json:"program"`
	// Code is the exit code, and Errors is what it wrote to its standard error.
	Code   int    `json:"code"`
	Errors string `json:"errors"`
	// Output is what it wrote to its standard output, as text if it is not JSON.
	Output any `json:"output"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
}

// Scraped is what a component's metrics were. The subject is the component.
type Scraped struct {
	Path string `json:"path"`
	// Metrics are the samples by the name of the metric. A histogram has
	// those of its _count and _sum.
	Metrics map[string][]Sample `json:"metrics"`
}

// Sample is one value of a metric.
type Sample struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// LogRead is what a step found in a log. The subject is the step's name.
type LogRead struct {
	Component string   `json:"component"`
	Lines     []string `json:"lines"`
}

// CheckOpened marks the moment from which a check is watched. The subject is
// the check's id.
type CheckOpened struct {
	Step int `json:"step"`
}

// CheckClosed marks the moment until which a check was watched. What it was is
// not recorded: judging is done later, on the history.
type CheckClosed struct {
	Step int `json:"step"`
	// Watched is how long the check was watched, in seconds.
	Watched float64 `json:"watched"`
}

// Lateness says how far behind the machine was while the cell ran.
type Lateness struct {
	// Mean and Worst are how much later than asked for timers fired, in
	// seconds.
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
	// Queue is how many threads ran or wanted to run for each processor, on
	// average.
	Queue float64 `json:"queue"`
}

// CellEnded is the last event of a cell.
type CellEnded struct {
	// Error is why the cell did not run to its end: the rig did not start, a
	// step could not be done, something was left behind. Empty if all is well.
	Error string `json:"error,omitempty"`
	// Rig is true if the rig has to answer for the error or for a part of it, and not only a step
	// that is Unmet. Records from before there was this field don't say so.
	Rig bool `json:"rig,omitempty"`
	// Interrupted is true if that was because the user stopped the run.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Settled is recorded when a step has waited until all is at rest. The subject is the step's name.
type Settled struct {
	// Restless are the objects that were not at rest when the time of the step was over: resource/namespace/name. If unset, all
	// were.
	Restless []string `json:"restless,omitempty"`
	// Touched is how many objects were read and annotated as a dry run, and Refused are those that an API server did not let be.
	Touched int       `json:"touched,omitempty"`
	Refused []Refusal `json:"refused,omitempty"`
	// Differing are those that it returned otherwise than it had sent them to who watches.
	Differing []Differing `json:"differing,omitempty"`
	// Readable are the Secrets and ConfigMaps that the kubelet of each node may read, by the name of the node. If unset, that was
	// not asked.
	Readable map[string][]string `json:"readable,omitempty"`
}

// Differing is an object that an API server returned otherwise than it had sent it to who watches, at the same resource version.
type Differing struct {
	Object string `json:"object"`
	// Fields are the paths of the fields that differ.
	Fields []string `json:"fields"`
}

// Refusal is how an API server refused to change an object.
type Refusal struct {
	Object  string `json:"object"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}
