package server

import (
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/grpc/codes"
)

// Metrics returns how many calls there were, under the names of KEP-4188. A watch
// counts when it is opened, with OK, since it may stay open for good, and any other
// call when it is answered.
func (s *Server) Metrics() []*dto.MetricFamily { return s.clients.counted().families() }

func (o outcomes) families() []*dto.MetricFamily {
	return []*dto.MetricFamily{
		counter("pod_info_endpoint_requests_total", "Calls of the Pods API, by code.", o.byCode(methodList, methodGet, methodWatch)),
		counter("pod_info_endpoint_requests_list", "Calls of ListPods, by code.", o.byCode(methodList)),
		counter("pod_info_endpoint_requests_get", "Calls of GetPod, by code.", o.byCode(methodGet)),
		counter("pod_info_endpoint_requests_watch", "Calls of WatchPods, by code.", o.byCode(methodWatch)),
		{
			Name:   new("pod_info_endpoint_errors_get"),
			Help:   new("Calls of GetPod that failed."),
			Type:   dto.MetricType_COUNTER.Enum(),
			Metric: []*dto.Metric{sample(o.failed(methodGet))},
		},
	}
}

// byCode returns how many calls of some methods there were by code. There is
// always OK: a metric that isn't there could as well be misspelt.
func (o outcomes) byCode(methods ...string) map[codes.Code]int64 {
	counts := map[codes.Code]int64{codes.OK: 0}
	for end, count := range o {
		if slices.Contains(methods, end.method) {
			counts[end.code] += count
		}
	}
	return counts
}

func (o outcomes) failed(method string) (failed int64) {
	for code, count := range o.byCode(method) {
		if code != codes.OK {
			failed += count
		}
	}
	return failed
}

func counter(name, help string, counts map[codes.Code]int64) *dto.MetricFamily {
	family := &dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_COUNTER.Enum()}
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		s := sample(counts[code])
		s.Label = []*dto.LabelPair{{Name: new("code"), Value: new(code.String())}}
		family.Metric = append(family.Metric, s)
	}
	return family
}

func sample(value int64) *dto.Metric {
	return &dto.Metric{Counter: &dto.Counter{Value: new(float64(value))}}
}
