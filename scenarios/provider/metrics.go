package provider

import (
	"bytes"
	"math"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/skewrig/skewrig/record"
)

// ParseMetrics reads the text format of Prometheus.
func ParseMetrics(text []byte) (map[string][]record.Sample, error) {
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
