package server

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/podsapi/mask"
)

// pod is one state of a pod, as it goes over the wire. It never changes.
type pod struct {
	uid types.UID
	// wire is all of the pod, and stub what is left to say of it when it is gone.
	wire, stub []byte
	// looks are those that were asked for last, since clients ask with the same
	// few masks over and over.
	looks atomic.Pointer[[]look]
}

// encode makes a state of a pod.
func encode(from *corev1.Pod) (*pod, error) {
	if from == nil {
		return nil, errors.New("a pod is nil")
	}
	if from.UID == "" {
		return nil, fmt.Errorf("pod %s/%s has no UID, which clients need to identify it", from.Namespace, from.Name)
	}
	wire, err := from.Marshal()
	if err != nil {
		return nil, fmt.Errorf("marshalling pod %s/%s: %w", from.Namespace, from.Name, err)
	}
	gone := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: from.Name, Namespace: from.Namespace, UID: from.UID}}
	stub, err := gone.Marshal()
	if err != nil {
		return nil, fmt.Errorf("marshalling the identity of pod %s/%s: %w", from.Namespace, from.Name, err)
	}
	return &pod{uid: from.UID, wire: wire, stub: stub}, nil
}

// masking is a mask and its text, by which it is known.
type masking struct {
	mask mask.Mask
	text string
}

func newMasking(m mask.Mask) masking { return masking{m, m.String()} }

// of returns what the mask leaves of a message.
func (m masking) of(wire []byte) ([]byte, error) {
	if m.mask.All() {
		return wire, nil
	}
	masked, err := m.mask.Filter(nil, wire)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return masked, nil
}

// look is what a pod looks like under a mask.
type look struct {
	text   string
	masked []byte
	hash   uint64
}

// maxLooks bounds the memory that a pod may take, whatever clients ask for.
const maxLooks = 4

// seed is that of the hashes.
var seed = maphash.MakeSeed()

// under returns what the pod looks like under a mask. The error is that of a call.
func (p *pod) under(by masking) (look, error) {
	var before []look
	if looks := p.looks.Load(); looks != nil {
		before = *looks
	}
	for _, known := range before {
		if known.text == by.text {
			return known, nil
		}
	}
	masked, err := by.of(p.wire)
	if err != nil {
		return look{}, err
	}
	made := look{text: by.text, masked: masked, hash: maphash.Bytes(seed, masked)}
	looks := append([]look{made}, before[:min(len(before), maxLooks-1)]...)
	p.looks.Store(&looks) // If another goroutine's is lost, it is made again.
	return made, nil
}
