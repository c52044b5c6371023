package render

import (
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/skewrig/skewrig/reports"
)

// scraped reads a report in OpenMetrics as Prometheus reads what it scrapes.
func scraped(t *testing.T, r reports.Report) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(render(t, "openmetrics", r)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// value is the value of the gauge with the labels, of which each is a name and a
// value.
func value(family *dto.MetricFamily, labels ...string) (float64, bool) {
	for _, m := range family.GetMetric() {
		has := make(map[string]string)
		for _, l := range m.GetLabel() {
			has[l.GetName()] = l.GetValue()
		}
		matches := true
		for i := 0; i+1 < len(labels); i += 2 {
			matches = matches && has[labels[i]] == labels[i+1]
		}
		if matches {
			return m.GetGauge().GetValue(), true
		}
	}
	return 0, false
}

func TestOpenMetricsSaysWhatTheReportSays(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		all := scraped(t, r)
		for o, n := range r.Summary.Outcomes {
			if got, ok := value(all["skewrig_cells"], "outcome", string(o)); !ok || got != float64(n) {
				t.Errorf("%s: %v cells are %s, want %d", name, got, o, n)
			}
		}
		for _, c := range r.Cells {
			if got, ok := value(all["skewrig_cell_outcome"], "cell", c.ID, "outcome", string(c.Outcome)); !ok || got != 1 {
				t.Errorf("%s: %s is not said to be %s", name, c.ID, c.Outcome)
			}
			if got, ok := value(all["skewrig_cell_expected"], "cell", c.ID); !ok || got == 1 != c.Outcome.Expected() {
				t.Errorf("%s: %s is %v, and %s", name, c.ID, got, c.Outcome)
			}
			if got, ok := value(all["skewrig_cell_duration_seconds"], "cell", c.ID); ok == c.Started.IsZero() || got != c.DurationSeconds && ok {
				t.Errorf("%s: %s took %v %t, want %v", name, c.ID, got, ok, c.DurationSeconds)
			}
		}
		for _, q := range r.Requirements {
			got, ok := value(all["skewrig_requirement_outcome"], "requirement", oneLine(q.ID, maxText), "outcome", string(q.Outcome))
			if ok != (len(q.Cells) > 0) || ok && got != 1 {
				t.Errorf("%s: requirement %s: %v %t", name, q.ID, got, ok)
			}
		}
		for _, c := range r.Reproduce.Components {
			if _, ok := value(all["skewrig_component_info"], "component", oneLine(c.Name, maxText), "digest", oneLine(c.Digest, maxText)); !ok {
				t.Errorf("%s: %s is not told", name, c.Name)
			}
		}
		if got, ok := value(all["skewrig_run_exit_code"]); !ok || got != float64(reports.ExitCode(r)) {
			t.Errorf("%s: exit code %v", name, got)
		}
		out := render(t, "openmetrics", r)
		if !strings.HasSuffix(out, "\n# EOF\n") || strings.Count(out, "# EOF") != 1 {
			t.Errorf("%s: it does not end as OpenMetrics do", name)
		}
	}
}

// TestHostileTextsMakeNoMetrics counts: a text can't begin a line of its own.
func TestHostileTextsMakeNoMetrics(t *testing.T) {
	t.Parallel()
	r := hostile(t)
	for line := range strings.Lines(render(t, "openmetrics", r)) {
		if !strings.HasPrefix(line, "skewrig_") && !strings.HasPrefix(line, "# ") {
			t.Errorf("a line of its own: %q", line)
		}
	}
	for name, family := range scraped(t, r) {
		if !strings.HasPrefix(name, "skewrig_") {
			t.Errorf("a metric %q with %d values", name, len(family.GetMetric()))
		}
	}
}
