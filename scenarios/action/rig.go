package action

import (
	"context"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Rig is what actions are done to: a running rig, or a model of one.
type Rig interface {
	// Write writes an object, in a namespace that is created first if it is not there, and
	// returns the API server's status code. A refusal is an error unless it is judged.
	Write(context.Context, Write) (code int, err error)
	// Update has a client of a release write an object by its types.
	Update(ctx context.Context, c Client, judged bool) error
	// Kubectl runs a kubectl, and records how that ended. That it failed is an error unless it is
	// judged.
	Kubectl(ctx context.Context, k Kubectl, judged bool) error
	// Webhook plays an admission webhook, and returns when the API servers know.
	Webhook(context.Context, Webhook) error
	// Define defines custom resources, and returns when the API servers serve them so.
	Define(context.Context, CRD) error
	// Convert plays a conversion webhook, and returns when the API servers ask it.
	Convert(context.Context, Conversion) error
	Delete(context.Context, Delete) error
	// RunStaticPod has a node's kubelet run a pod from a file, and RemoveStaticPod
	// takes the file of a name away.
	RunStaticPod(node string, pod map[string]any) error
	RemoveStaticPod(node, name string) error
	// Restart starts a component, which it stops before if it runs.
	Restart(context.Context, Restart) error
	// Stop asks a component to end, and kills it if it does not in its time.
	Stop(context.Context, Stop) error
	Kill(component string) error
	// Reboot reboots a node, and returns when its kubelet is back.
	Reboot(ctx context.Context, node string) error
	// Route leads a component to API servers, by their names.
	Route(component string, servers []string) error
	// SetLink gives a link a fault, or none.
	SetLink(spec.Link, record.LinkFault) error
	SetClock(Clock) error
	// Scrape reads the metrics of a component into the record, and ReadLog the
	// lines of its log that match a regular expression.
	Scrape(ctx context.Context, component, path string) error
	ReadLog(component, match string) error
	// Get reads what a component answers to a request for a path into the record.
	Get(ctx context.Context, g Get) error
	// ReadStored reads what etcd has of an object into the record.
	ReadStored(context.Context, spec.ObjectRef) error
	// Store has etcd hold an object as a release has it, and reads that into the record.
	Store(context.Context, Store) error
	// ReadSockets reads the TCP sockets of a component into the record, for a while if
	// the span is not zero.
	ReadSockets(ctx context.Context, component string, port int, span time.Duration) error
	AskPods(context.Context, PodsAPI) error
	// Wait waits until the condition of the step holds. Without one, it lets so much time
	// pass.
	Wait(ctx context.Context, until string, within time.Duration) error
	// Settle waits until all that was recorded is at rest.
	Settle(context.Context, Settle) error
	// Watch watches checks until each is decided or its time is over.
	Watch(ctx context.Context, checks Checks) error
}
