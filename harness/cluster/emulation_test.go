package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

// TestReadEmulation: the metrics of a component have the version that it emulates. A version that
// is not the configured one is an error.
func TestReadEmulation(t *testing.T) {
	t.Parallel()
	configured := record.Settings{EmulatedVersion: "v1.90"}
	for name, tc := range map[string]struct {
		settings record.Settings
		metrics  string
		want     record.ComponentStarted
		err      string
	}{
		"as configured": {configured, `version_info{binary="1.91.1",component="kube",emulation="1.90",min_compat="1.89"} 1` + "\n",
			record.ComponentStarted{Version: "v1.91.1", EmulatedVersion: "v1.90", MinCompatibilityVersion: "v1.89"}, ""},
		"not configured": {record.Settings{}, "", record.ComponentStarted{Version: "v1.91.1"}, ""},
		"another": {configured, `version_info{binary="1.91.1",component="kube",emulation="1.91",min_compat="1.90"} 1` + "\n",
			record.ComponentStarted{Version: "v1.91.1", EmulatedVersion: "v1.91", MinCompatibilityVersion: "v1.90"}, "kube-apiserver reports v1.91, but is configured for v1.90"},
		"not reported": {configured, "go_goroutines 1\n", record.ComponentStarted{Version: "v1.91.1"}, "does not say which version it emulates"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/metrics" {
					_, _ = w.Write([]byte("# TYPE version_info gauge\n" + tc.metrics))
				}
			}))
			defer server.Close()
			comp := &component{name: "kube-apiserver", health: server.URL + "/readyz", settings: tc.settings}
			got := record.ComponentStarted{Version: "v1.91.1"}
			err := comp.readEmulation(t.Context(), server.Client(), &got)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
