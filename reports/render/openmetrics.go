package render

import (
	"bytes"
	"fmt"
	"io"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/skewrig/skewrig/reports"
)

// OpenMetrics writes the report as OpenMetrics, for dashboards of how things change
// from run to run: cells by outcome, how long each took, verdicts of requirements,
// and what ran. All are gauges of this one run, without a time of their own: whoever
// gathers them knows when.
func OpenMetrics(w io.Writer, r reports.Report) error {
	var out bytes.Buffer
	for _, family := range families(r) {
		if len(family.Metric) == 0 {
			continue
		}
		// Writing to a buffer cannot fail, so that this is about the family.
		if _, err := expfmt.MetricFamilyToOpenMetrics(&out, family); err != nil {
			return fmt.Errorf("writing %s as OpenMetrics: %w", family.GetName(), err)
		}
	}
	_, err := expfmt.FinalizeOpenMetrics(&out)
	if err == nil {
		_, err = w.Write(out.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing a report as OpenMetrics: %w", err)
	}
	return nil
}

func families(r reports.Report) []*dto.MetricFamily {
	started := gauge("skewrig_run_start_timestamp_seconds", "When the first cell of the run started, in seconds since 1970.")
	if first := firstStart(r.Cells); !first.IsZero() {
		started.add(float64(first.UnixMilli()) / 1000)
	}
	run := gauge("skewrig_run_info", "The skewrig and the host of the run.")
	run.add(1, "skewrig", r.Reproduce.Skewrig, "go", r.Reproduce.Go, "os", r.Reproduce.Host.OS, "arch", r.Reproduce.Host.Arch)
	verdict := gauge("skewrig_run_exit_code", "The verdict of the run: 0 all as expected, 1 a nonconformance, 2 not judged.")
	verdict.add(float64(reports.ExitCode(r)))
	problems := gauge("skewrig_run_problems", "Problems of the run as a whole.")
	problems.add(float64(len(r.Problems)))
	components := gauge("skewrig_component_info", "The binaries of the run.")
	for _, c := range r.Reproduce.Components {
		components.add(1, "component", c.Name, "version", c.Version, "source", c.Source, "digest", c.Digest)
	}
	all := []*dto.MetricFamily{run.MetricFamily, started.MetricFamily, verdict.MetricFamily, problems.MetricFamily, components.MetricFamily}
	all = append(all, cellFamilies(r)...)
	return append(all, requirementFamilies(r)...)
}

// firstStart is when the first cell started; zero if none did.
func firstStart(cells []reports.Cell) (first time.Time) {
	for _, c := range cells {
		if first.IsZero() || !c.Started.IsZero() && c.Started.Before(first) {
			first = c.Started
		}
	}
	return first
}

func cellFamilies(r reports.Report) []*dto.MetricFamily {
	count := gauge("skewrig_cells", "How many cells have this outcome, without reference cells.")
	for _, o := range reports.Outcomes() {
		count.add(float64(r.Summary.Outcomes[o]), "outcome", string(o))
	}
	outcome := gauge("skewrig_cell_outcome", "The outcome of each cell: 1 for the outcome that it has.")
	expected := gauge("skewrig_cell_expected", "Whether the outcome of each cell is as expected: 1 or 0.")
	seconds := gauge("skewrig_cell_duration_seconds", "How long each cell took, without cells that did not start.")
	seconds.Unit = new("seconds")
	checks := gauge("skewrig_checks", "How many checks have this outcome.")
	byOutcome := make(map[reports.Outcome]int)
	for _, c := range r.Cells {
		outcome.add(1, "cell", c.ID, "kep", c.KEP, "outcome", string(c.Outcome))
		expected.add(oneIf(c.Outcome.Expected()), "cell", c.ID, "kep", c.KEP)
		if !c.Started.IsZero() {
			seconds.add(c.DurationSeconds, "cell", c.ID, "kep", c.KEP)
		}
		for _, check := range c.Checks {
			byOutcome[check.Outcome]++
		}
	}
	for _, o := range reports.Outcomes() {
		checks.add(float64(byOutcome[o]), "outcome", string(o))
	}
	families := []*dto.MetricFamily{count.MetricFamily, outcome.MetricFamily, expected.MetricFamily, seconds.MetricFamily, checks.MetricFamily}
	if of := r.Summary.Reference; of.Cells > 0 {
		reference := gauge("skewrig_reference_cells", "How many reference cells there are, by whether they are as expected.")
		reference.add(float64(of.Expected), "expected", "true")
		reference.add(float64(of.Cells-of.Expected), "expected", "false")
		families = append(families, reference.MetricFamily)
	}
	return families
}

func requirementFamilies(r reports.Report) []*dto.MetricFamily {
	outcome := gauge("skewrig_requirement_outcome", "The outcome of each requirement that a cell serves: 1 for the outcome that it has.")
	cells := gauge("skewrig_requirement_cells", "How many cells serve each requirement.")
	for _, q := range r.Requirements {
		cells.add(float64(len(q.Cells)), "requirement", q.ID, "kep", q.KEP)
		if len(q.Cells) > 0 {
			outcome.add(1, "requirement", q.ID, "kep", q.KEP, "level", q.Level, "stage", q.Stage, "outcome", string(q.Outcome))
		}
	}
	return []*dto.MetricFamily{outcome.MetricFamily, cells.MetricFamily}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// metrics are a family of gauges.
type metrics struct{ *dto.MetricFamily }

func gauge(name, help string) metrics {
	return metrics{&dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum()}}
}

// add adds a gauge with labels, of which each is a name and a value.
func (m metrics) add(value float64, labels ...string) {
	var pairs []*dto.LabelPair
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, &dto.LabelPair{Name: &labels[i], Value: new(oneLine(labels[i+1], maxText))})
	}
	m.Metric = append(m.Metric, &dto.Metric{Label: pairs, Gauge: &dto.Gauge{Value: &value}})
}
