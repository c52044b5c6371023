package container

import (
	"bufio"
	"encoding/json"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skewrig/skewrig/record"
)

// TestASlowNodeLosesNothing: what a process records waits for as long as the node takes.
func TestASlowNodeLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node, process := net.Pipe()
		defer node.Close()
		go func() { _ = json.NewEncoder(node).Encode(Greeting{Container: "default/web/app"}) }()
		r, path, err := greeted(process)
		if err != nil || path != "default/web/app" {
			t.Fatalf("%q, %v", path, err)
		}
		go func() {
			for port := range int32(2) {
				r.Append("", "", record.Listening{Port: port})
			}
		}()
		from := bufio.NewReader(node)
		for n := range 2 {
			<-time.After(time.Hour) // as one that is stopped
			if line, err := from.ReadString('\n'); err != nil {
				t.Fatalf("event %d: %q, %v", n, line, err)
			}
			<-time.After(time.Hour)
			if _, err := node.Write([]byte("\n")); err != nil {
				t.Fatalf("event %d: %v", n, err)
			}
		}
	})
}
