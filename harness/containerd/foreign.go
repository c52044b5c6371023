package containerd

import (
	"context"
	"io"
	"net"

	"github.com/skewrig/skewrig/record"
)

// RelayConfig says which container runtime of others to stand in front of.
type RelayConfig struct {
	// Name is that of the node.
	Name string
	// Socket is where the kubelet connects to.
	Socket string
	// Dial connects to containerd.
	Dial func(context.Context) (net.Conn, error)
	// Load has containerd have the image that a pod asks for, or returns why there is none.
	Load func(ctx context.Context, reference string) error
	// Mounts are what all containers have of the node's file system. If unset, nothing.
	Mounts []Mount
	// Up waits until the program of a container has come up, as that of a Config. If unset, nothing is
	// waited for.
	Up func(ctx context.Context, id, reference string)
	// Recorder takes what the kubelet has containerd do.
	Recorder record.Recorder
	// Output is a directory for what containers write. If unset, it is not kept.
	Output string
}

// Relay is between a kubelet and a containerd that others run. It records what the one has
// the other do, as a Node does.
type Relay struct{ relay *relay }

// NewRelay begins to serve, until Close is called.
func NewRelay(c RelayConfig) (*Relay, error) {
	r, err := newRelay(c)
	if err != nil {
		return nil, err
	}
	return &Relay{r}, nil
}

// Follow reads events, as ctr prints them, until they end, and records the ends of containers.
func (r *Relay) Follow(events io.Reader) error {
	return r.relay.readExits(events)
}

// Path is the path of the container with an id, "namespace/pod/container", and whether there is
// one.
func (r *Relay) Path(id string) (string, bool) { return r.relay.Path(id) }

// Close ends all calls. Nothing is recorded afterwards. What Follow reads has ended before.
func (r *Relay) Close() error {
	err := r.relay.end()
	r.relay.looking.Wait()
	return err
}
