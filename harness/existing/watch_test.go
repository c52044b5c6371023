package existing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/record"
)

// silent is an API server that never answers.
type silent struct{ asked, left int }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked++
	<-r.Context().Done()
	s.left++
	return nil, r.Context().Err()
}

// TestAStoppedWatch asks nothing any more, and loses nothing.
func TestAStoppedWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := new(silent)
		c := &Cluster{rest: &rest.Config{Host: "http://api.test", Transport: server}}
		var err error
		if c.client, err = kubernetes.NewForConfig(c.rest); err != nil {
			t.Fatal(err)
		}
		history := record.NewHistory(nil)
		stop, err := c.Watch(t.Context(), Watched{Recorder: history})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(askPause + time.Second)
		stop()
		if server.asked != 1 || server.left != 1 {
			t.Errorf("of %d questions, %d ended", server.asked, server.left)
		}
		if events := history.Events(); len(events) > 0 {
			t.Errorf("recorded %+v", events)
		}
	})
}

// TestAnAPIServerThatDoesNotAnswer is a loss from the last answer to the next one. One question without an answer is none: this
// machine may be slow.
func TestAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers string // "y" or "n" for each question, and then it answers
		want    []string
	}{
		"always":     {"yyy", nil},
		"but once":   {"ynyny", nil},
		"for a time": {"ynnnny", []string{"from 2s at 4.1s over: false", "from 2s at 10.1s over: true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				history := record.NewHistory(nil)
				w := &watcher{Watched: Watched{Recorder: history}, containers: newContainers(time.Now())}
				ctx, cancel := context.WithCancel(t.Context())
				began, asked := time.Now(), 0
				w.ask(ctx, func(context.Context) error {
					if asked++; asked > len(c.answers) {
						cancel()
						return nil
					}
					if c.answers[asked-1] == 'n' {
						return errors.New("no answer")
					}
					return nil
				})
				var got []string
				for e, l := range record.All[record.ObservationLost](history.Events()) {
					if l.Kinds[0] == "object.observed" {
						got = append(got, fmt.Sprintf("from %s at %s over: %t", l.Since.Sub(began), e.At.Sub(began), l.Resumed))
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" || len(history.Events()) != 2*len(got) {
					t.Errorf("%d events (-want +got):\n%s", len(history.Events()), diff)
				}
			})
		})
	}
}
