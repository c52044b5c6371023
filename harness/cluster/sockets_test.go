package cluster

import (
	"net"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestSocketsInATable(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100097F:280A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0 100 0 0 10 0
   1: 0100097F:C001 0200097F:20FB 01 00000000:00000000 00:00000000 00000000     0        0 102 1 0 20 4 0 10 -1
   2: 0100097F:C002 0200097F:20FB 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   3: 0100097F:C003 0200097F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   4: 0100097F:C004 0200097F:20FB 01 00000000:00000000 00:00000000 00000000     0        0 199 1 0 20 4 0 10 -1
   5: 0000000000000000FFFF00000100097F:280A 0000000000000000FFFF00000300097F:20FB 08 00000000:00000000 00:00000000 00000000     0        0 103 1 0
`
	open := map[string]bool{"101": true, "102": true, "103": true}
	waits := record.Socket{Local: "127.9.0.1:49154", Remote: "127.9.0.2:8443", State: "TIME_WAIT"}
	listens := record.Socket{Local: "127.9.0.1:10250", Remote: "0.0.0.0:0", State: "LISTEN"}
	connected := record.Socket{Local: "127.9.0.1:49153", Remote: "127.9.0.2:8443", State: "ESTABLISHED"}
	left := record.Socket{Local: "127.9.0.1:10250", Remote: "127.9.0.3:8443", State: "CLOSE_WAIT"}
	for port, want := range map[int][]record.Socket{
		0:    {listens, connected, left},
		8443: {listens, connected, waits, left},
	} {
		if diff := cmp.Diff(want, socketsIn(table, open, port)); diff != "" {
			t.Errorf("port %d (-want +got):\n%s", port, diff)
		}
	}
}

// TestOpenSockets: the table of this process has a socket that this test opens.
func TestOpenSockets(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	open, err := openSockets("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range socketsIn(string(table), open, 0) {
		if s.Local == listener.Addr().String() && s.State == "LISTEN" {
			return
		}
	}
	t.Errorf("%s is not among the open sockets", listener.Addr())
}
