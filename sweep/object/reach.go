package object

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Server is an API server that is asked to take an object, or its status only, and does not store it. It
// returns what would be stored.
type Server interface {
	Try(ctx context.Context, kind apitypes.Kind, object map[string]any, status bool) (map[string]any, error)
}

// ErrDropped is the error if a server takes an object without the field.
var ErrDropped = errors.New("the API server drops the field")

// maxTries is after how many attempts an object is given up.
const maxTries = 60

// Reach returns an object of a kind that has a field at a path and that a server takes. The error is
// the server's last word.
func (m Maker) Reach(ctx context.Context, server Server, kind apitypes.Kind, path string) (object map[string]any, err error) {
	for _, object := range m.With(kind, path) {
		if object, err = m.repaired(ctx, server, kind, path, object); err == nil {
			return object, nil
		}
	}
	return nil, err
}

// repaired changes an object until a server takes it.
func (m Maker) repaired(ctx context.Context, server Server, kind apitypes.Kind, path string, object map[string]any) (map[string]any, error) {
	tried := make(map[string]int) // how many repairs, by cause
	before, because := object, []metav1.StatusCause(nil)
	var last error
	for range maxTries {
		stored, err := server.Try(ctx, kind, runtime.DeepCopyJSON(object), strings.HasPrefix(path, "status."))
		if err == nil && kube.Has(stored, path) {
			return object, nil
		}
		if err == nil {
			err = ErrDropped
		}
		// Of a refusal without causes, the last repair was wrong.
		if causes := causesOf(err); len(causes) > 0 || last == nil {
			before, because, last = object, causes, err
		}
		object = runtime.DeepCopyJSON(before)
		if !m.repairAll(kind, object, path, because, tried) {
			break
		}
	}
	return nil, last
}

func causesOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// repairAll makes up for each cause as was not tried before. It reports false if nothing is left to be
// tried.
func (m Maker) repairAll(kind apitypes.Kind, object map[string]any, path string, causes []metav1.StatusCause, tried map[string]int) (changed bool) {
	for _, cause := range causes {
		id := fmt.Sprint(cause.Type, cause.Field)
		if all := m.repairs(kind, object, path, cause); tried[id] < len(all) {
			all[tried[id]]()
			changed = true
		}
		tried[id]++
	}
	return changed
}
