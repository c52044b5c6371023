package existing

import (
	"bytes"
	"errors"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
)

// featureEnabled is the metric in which a component has its gates (KEP-3466).
const featureEnabled = "kubernetes_feature_enabled"

// gatesOf reads the gates from metrics, or says why they can't be read: if it is for want of a
// permission, which one. What it says names no user and no host.
func gatesOf(metrics []byte, err error, permission string) facts.Gates {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return facts.Gates{Unread: "that needs the permission to " + permission}
	case errors.As(err, &status):
		return facts.Gates{Unread: fmt.Sprintf("its metrics were answered with %d %s", status.Status().Code, status.Status().Reason)}
	case err != nil:
		return facts.Gates{Unread: "the request for its metrics got no answer"}
	}
	gates, err := parseGates(metrics)
	switch {
	case err != nil:
		return facts.Gates{Unread: "its metrics are not in the format of Prometheus"}
	case len(gates) == 0:
		return facts.Gates{Unread: "it has no metric " + featureEnabled}
	}
	return facts.Gates{Set: gates}
}

// parseGates reads the gates from metrics in the text format of Prometheus.
func parseGates(metrics []byte) (release.Gates, error) {
	own, err := samples(metrics, featureEnabled)
	if err != nil {
		return nil, err
	}
	gates := make(release.Gates)
	for _, m := range own {
		for _, l := range m.GetLabel() {
			if l.GetName() == "name" {
				gates[l.GetValue()] = m.GetUntyped().GetValue() == 1
			}
		}
	}
	return gates, nil
}

// samples are those of one metric with labels, of metrics in the text format of Prometheus. The others, which
// are megabytes, are not parsed.
func samples(metrics []byte, name string) ([]*dto.Metric, error) {
	var own bytes.Buffer
	for line := range bytes.Lines(metrics) {
		if bytes.HasPrefix(line, []byte(name+"{")) {
			own.Write(line)
		}
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&own)
	return families[name].GetMetric(), err
}
