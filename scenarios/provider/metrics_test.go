package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestMetricsAreRead(t *testing.T) {
	t.Parallel()
	got, err := ParseMetrics([]byte(`# TYPE prober_probe_total counter
prober_probe_total{container="app",result="successful"} 3
prober_probe_total{container="app",result="failed"} 1
# TYPE up gauge
up 1
plain 2.5
nobody_knows NaN
# TYPE latency histogram
latency_bucket{le="1"} 1
latency_bucket{le="+Inf"} 2
latency_sum 3
latency_count 2
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]record.Sample{
		"prober_probe_total": {
			{Labels: map[string]string{"container": "app", "result": "successful"}, Value: 3},
			{Labels: map[string]string{"container": "app", "result": "failed"}, Value: 1},
		},
		"up":            {{Labels: map[string]string{}, Value: 1}},
		"plain":         {{Labels: map[string]string{}, Value: 2.5}},
		"latency_count": {{Labels: map[string]string{}, Value: 2}},
		"latency_sum":   {{Labels: map[string]string{}, Value: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := ParseMetrics([]byte("no metrics {")); err == nil {
		t.Error("no error for what are no metrics")
	}
}
