package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/podsapi/script"
	"github.com/skewrig/skewrig/podsapi/server"
)

// behind is a client that did so, and is behind on pods of some names.
func behind(c server.Client, names ...string) script.Client {
	shown := script.Client{Client: c}
	for _, name := range names {
		shown.Behind = append(shown.Behind, script.Behind{Name: name})
	}
	return shown
}

func TestServeReportsRuns(t *testing.T) {
	t.Parallel()
	const large = 6*grpcLimit/4 + 1
	for name, tc := range map[string]struct {
		runs []script.Run
		want string
	}{
		"clients": {
			[]script.Run{{Number: 1, Clients: []script.Client{
				behind(server.Client{ID: 1, PID: 17, Watching: 1, Events: 1001, Missed: 3}, "shop/web-1", "shop/web-2", "shop/web-3"),
				behind(server.Client{ID: 2, PID: 18, Watching: 2, Events: 5}, "a/1", "a/2", "a/3", "a/4"),
			}}, {Number: 2, Clients: []script.Client{
				behind(server.Client{ID: 1, PID: 17, Calls: []server.Calls{{Method: "ListPods", Code: "OK", Count: 2}}, LargestList: grpcLimit}),
				behind(server.Client{ID: 2, PID: 19, Disconnected: time.Now()}),
			}}},
			`RUN  CLIENT  PID  CALLS          STATE      EVENTS  MISSED  BEHIND
1    1       17   -              watching   1001    3       3: shop/web-1 shop/web-2 shop/web-3
1    2       18   -              2 watches  5       0       4: a/1 a/2 a/3 …
2    1       17   2×ListPods:OK  connected  0       0       0
2    2       19   -              gone       0       0       0
`,
		},
		"refused": {
			[]script.Run{{Number: 1, Refused: 2}},
			"No client connected.\nIn run 1 the server refused 2 connections of users other than root and its own.\n",
		},
		"forgotten": {
			[]script.Run{{Number: 1, Clients: []script.Client{behind(server.Client{ID: 8, PID: 17})}, Forgotten: 7}},
			`RUN  CLIENT  PID  CALLS  STATE      EVENTS  MISSED  BEHIND
1    8       17   -      connected  0       0       0
In run 1 there were 7 more clients, which disconnected earlier and are not shown.
`,
		},
		"too large": {
			[]script.Run{{Number: 1, Clients: []script.Client{
				behind(server.Client{ID: 1, PID: 17, LargestList: large}),
				behind(server.Client{ID: 2, PID: 17, LargestList: grpcLimit + 1}),
			}}},
			`RUN  CLIENT  PID  CALLS  STATE      EVENTS  MISSED  BEHIND
1    1       17   -      connected  0       0       0
1    2       17   -      connected  0       0       0
A list of 6.0 MiB was more than gRPC clients take, which is 4 MiB unless they set grpc.MaxCallRecvMsgSize: client 1 of run 1 and 1 more may have got nothing, though the server says OK.
`,
		},
	} {
		var out bytes.Buffer
		printRuns(&out, tc.runs)
		if diff := cmp.Diff(tc.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRunsInJSONNameThePods: not only by the UIDs that the server knows them by.
func TestRunsInJSONNameThePods(t *testing.T) {
	t.Parallel()
	client := behind(server.Client{ID: 1, Behind: []types.UID{"uid-1"}}, "shop/web-1")
	client.Behind[0].UID = "uid-1"
	var out bytes.Buffer
	if err := printJSON(&out, []script.Run{{Number: 1, Clients: []script.Client{client}}}); err != nil {
		t.Fatal(err)
	}
	var runs []struct {
		Clients []struct{ Behind []map[string]string }
	}
	if err := json.Unmarshal(out.Bytes(), &runs); err != nil || runs[0].Clients[0].Behind[0]["name"] != "shop/web-1" || runs[0].Clients[0].Behind[0]["uid"] != "uid-1" {
		t.Errorf("error %v:\n%s", err, &out)
	}
}
