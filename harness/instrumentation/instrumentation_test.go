package instrumentation

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestMetrics: names are literals, constants of the package and of others, and sums of these.
func TestMetrics(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got, err := Sources{
		"example.org/app": fstest.MapFS{
			"pkg/things/metrics.go": file(`package things

import (
	"example.org/base/names"
	m "example.org/base/metrics"
)

const subsystem = "thing" + "s"

var a = m.NewCounterVec(&m.CounterOpts{Subsystem: subsystem, Name: "made_total", Help: "x"}, []string{"kind"})
var b = m.HistogramOpts{Namespace: names.App, Subsystem: other, Name: "took_seconds"}
var c = m.NewDesc(m.BuildFQName("", "cache", "size"), "x", nil, nil, m.ALPHA, "")
var d = m.NewDesc("plain_bytes", "x", nil, nil, m.ALPHA, "")
var e = m.HandlerOpts{Timeout: 1}
var f = m.GaugeOpts{Name: computed()}
var loop = loop
var g = m.GaugeOpts{Name: loop}
`),
			"pkg/things/other.go":        file("package things\n\nconst other = \"queue\"\n"),
			"pkg/things/metrics_test.go": file("package things\n\nvar x = m.GaugeOpts{Name: \"of_a_test\"}\n"),
			"vendor/x/x.go":              file("package x\n\nvar x = m.GaugeOpts{Name: \"of_others\"}\n"),
		},
		"example.org/base": fstest.MapFS{"names/names.go": file("package names\n\nconst App = \"app\"\n")},
	}.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	want := []Metric{
		{Name: "app_queue_took_seconds", Short: []string{"queue_took_seconds", "took_seconds"}, Samples: true},
		{Name: "cache_size", Short: []string{"size"}}, {Name: "plain_bytes"},
		{Name: "things_made_total", Short: []string{"made_total"}},
	}
	if !slices.EqualFunc(got, want, func(a, b Metric) bool {
		return a.Name == b.Name && a.Samples == b.Samples && slices.Equal(a.Short, b.Short)
	}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if m := want[0]; !m.Is("app_queue_took_seconds_count") || !m.Is(m.Name) || m.Is("took_seconds") || want[2].Is("plain_bytes_count") {
		t.Error("names of samples")
	}
}

func TestMetricsOfBrokenSources(t *testing.T) {
	t.Parallel()
	_, err := Sources{"example.org/app": fstest.MapFS{"a.go": &fstest.MapFile{Data: []byte("package a; var x = CounterOpts{")}}}.Metrics()
	if err == nil {
		t.Error("a file that is no Go is read")
	}
}
