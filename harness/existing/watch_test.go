package existing

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
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
		stop, err := c.Watch(t.Context(), Watched{Lost: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(askPause + time.Second)
		stop()
		if server.asked != 1 || server.left != 1 {
			t.Errorf("of %d questions, %d ended", server.asked, server.left)
		}
	})
}
