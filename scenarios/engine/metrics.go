package engine

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/skewrig/skewrig/record"
)

// Scrape implements action.Rig.
func (r *run) Scrape(ctx context.Context, component, path string) error {
	text, code, err := r.get(ctx, component, path, "")
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%d %s", code, http.StatusText(code))
	}
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", path, component, err)
	}
	metrics, err := parseMetrics(text)
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", path, component, err)
	}
	r.history.Append("engine", component, record.Scraped{Path: path, Metrics: metrics})
	return nil
}

// ReadLog implements action.Rig.
func (r *run) ReadLog(component, matching string) error {
	match, err := regexp.Compile(matching)
	if err != nil {
		return err
	}
	text, err := r.Log(component)
	if err != nil {
		return err
	}
	read := record.LogRead{Component: component, Lines: []string{}}
	for line := range strings.Lines(string(text)) {
		if match.MatchString(line) {
			read.Lines = append(read.Lines, strings.TrimRight(line, "\n"))
		}
	}
	r.history.Append("engine", r.current.Name, read)
	return nil
}

// parseMetrics reads the text format of Prometheus.
func parseMetrics(text []byte) (map[string][]record.Sample, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	metrics := make(map[string][]record.Sample)
	for name, family := range families {
		for _, m := range family.GetMetric() {
			labels := make(map[string]string)
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			for suffix, value := range values(m) {
				if math.IsInf(value, 0) || math.IsNaN(value) {
					continue // JSON has no such numbers
				}
				metrics[name+suffix] = append(metrics[name+suffix], record.Sample{Labels: labels, Value: value})
			}
		}
	}
	return metrics, nil
}

// values are the values of a metric by what is put behind its name.
func values(m *dto.Metric) map[string]float64 {
	switch {
	case m.Counter != nil:
		return map[string]float64{"": m.Counter.GetValue()}
	case m.Gauge != nil:
		return map[string]float64{"": m.Gauge.GetValue()}
	case m.Untyped != nil:
		return map[string]float64{"": m.Untyped.GetValue()}
	case m.Histogram != nil:
		return map[string]float64{"_count": float64(m.Histogram.GetSampleCount()), "_sum": m.Histogram.GetSampleSum()}
	case m.Summary != nil:
		return map[string]float64{"_count": float64(m.Summary.GetSampleCount()), "_sum": m.Summary.GetSampleSum()}
	default:
		return nil
	}
}
