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
	for _, family := range familiesOf(r) {
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

// families are the metrics of a report, in the order in which they were begun.
type families []*dto.MetricFamily

func familiesOf(r reports.Report) families {
	var f families
	f.gauge("skewrig_run_info", "The skewrig and the host of the run.").
		add(1, "skewrig", r.Reproduce.Skewrig, "go", r.Reproduce.Go, "os", r.Reproduce.Host.OS, "arch", r.Reproduce.Host.Arch)
	started := f.gauge("skewrig_run_start_timestamp_seconds", "When the first cell of the run started, in seconds since 1970.")
	if first := firstStart(r.Cells); !first.IsZero() {
		started.add(float64(first.UnixMilli()) / 1000)
	}
	f.gauge("skewrig_run_exit_code", "The verdict of the run: 0 all as expected, 1 a nonconformance, 2 not judged.").add(float64(reports.ExitCode(r)))
	f.gauge("skewrig_run_problems", "Problems of the run as a whole.").add(float64(len(r.Problems)))
	components := f.gauge("skewrig_component_info", "The binaries of the run.")
	for _, c := range r.Reproduce.Components {
		components.add(1, "component", c.Name, "version", c.Version, "source", c.Source, "digest", c.Digest)
	}
	f.ofCells(r)
	f.ofRequirements(r.Requirements)
	return f
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

func (f *families) ofCells(r reports.Report) {
	count := f.gauge("skewrig_cells", "How many cells have this outcome, without reference cells.")
	for _, o := range reports.Outcomes() {
		count.add(float64(r.Summary.Outcomes[o]), "outcome", string(o))
	}
	outcome := f.gauge("skewrig_cell_outcome", "The outcome of each cell: 1 for the outcome that it has.")
	expected := f.gauge("skewrig_cell_expected", "Whether the outcome of each cell is as expected: 1 or 0.")
	seconds := f.gauge("skewrig_cell_duration_seconds", "How long each cell took, without cells that did not start.")
	seconds.Unit = new("seconds")
	checks := f.gauge("skewrig_checks", "How many checks have this outcome.")
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
	if of := r.Summary.Reference; of.Cells > 0 {
		reference := f.gauge("skewrig_reference_cells", "How many reference cells there are, by whether they are as expected.")
		reference.add(float64(of.Expected), "expected", "true")
		reference.add(float64(of.Cells-of.Expected), "expected", "false")
	}
}

func (f *families) ofRequirements(requirements []reports.Requirement) {
	outcome := f.gauge("skewrig_requirement_outcome", "The outcome of each requirement that a cell serves: 1 for the outcome that it has.")
	cells := f.gauge("skewrig_requirement_cells", "How many cells serve each requirement.")
	for _, q := range requirements {
		cells.add(float64(len(q.Cells)), "requirement", q.ID, "kep", q.KEP)
		if len(q.Cells) > 0 {
			outcome.add(1, "requirement", q.ID, "kep", q.KEP, "level", q.Level, "stage", q.Stage, "outcome", string(q.Outcome))
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// metrics are a family of gauges.
type metrics struct{ *dto.MetricFamily }

func (f *families) gauge(name, help string) metrics {
	family := &dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum()}
	*f = append(*f, family)
	return metrics{family}
}

// add adds a gauge with labels, of which each is a name and a value.
func (m metrics) add(value float64, labels ...string) {
	var pairs []*dto.LabelPair
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, &dto.LabelPair{Name: &labels[i], Value: new(oneLine(labels[i+1], maxText))})
	}
	m.Metric = append(m.Metric, &dto.Metric{Label: pairs, Gauge: &dto.Gauge{Value: &value}})
}
