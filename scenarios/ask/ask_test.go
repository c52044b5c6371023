package ask

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/scenarios/law"
)

// TestUntil: what counts is what an API server answers. Where none does, the mutation is done again, and in the end
// that is an error, and no refusal.
func TestUntil(t *testing.T) {
	t.Parallel()
	none, exists, gone := apierrors.NewBadRequest("no"), apierrors.NewAlreadyExists(schema.GroupResource{}, "s0001"), apierrors.NewNotFound(schema.GroupResource{}, "s0001")
	for name, tc := range map[string]struct {
		verb law.Verb
		said []error // one after the other, the last one again and again
		code int
		err  error
	}{
		"it is done":                      {law.Patches, []error{nil}, 0, nil},
		"it is refused":                   {law.Patches, []error{none}, 400, nil},
		"a connection breaks":             {law.Patches, []error{io.EOF, io.EOF, nil}, 0, nil},
		"it is refused afterwards":        {law.Patches, []error{io.EOF, none}, 400, nil},
		"no answer":                       {law.Patches, []error{io.EOF}, 0, io.EOF},
		"it is made, and the answer lost": {law.Creates, []error{io.EOF, exists}, 0, nil},
		"it is gone, and the answer lost": {law.Deletes, []error{io.EOF, gone}, 0, nil},
		"it was there before":             {law.Creates, []error{exists}, 409, nil},
		"it was gone before":              {law.Deletes, []error{gone}, 404, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			said := slices.Clone(tc.said)
			got, err := Until(t.Context(), tc.verb, func() error {
				defer func() { said = said[min(1, len(said)-1):] }()
				return said[0]
			})
			if got.Code != tc.code || (got.Text == "") != (tc.code == 0) || !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		})
	}
}

// TestAnswerOfWhoIsInterrupted: that a component ended is the error, and no connection that broke for that.
func TestAnswerOfWhoIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		ended := errors.New("kube-apiserver ended")
		time.AfterFunc(Limit/2, func() { end(ended) })
		if _, err := Until(ctx, law.Patches, func() error { return io.EOF }); !errors.Is(err, ended) {
			t.Errorf("got %v", err)
		}
	})
}
