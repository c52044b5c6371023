package check

// unmended are checks of the catalog that are refused and are not mended yet, by
// scenario and id.
var unmended = map[string]bool{
	"kep-4188/upgrade/kubelet the-same-client":         true,
	"kep-4939-draft/released/feature gates":            true,
	"kep-4939-draft/released/feature no-others-needed": true,
	"kep-4939/rollback/procedure unprepared-fails":     true,
	"kep-5999/probe/kinds no-other-component":          true,
	"kep-5999/rollback/gate h2c-server-gets-http1":     true,
	"kep-5999/rollback/gate server-of-both-gets-http1": true,
}
