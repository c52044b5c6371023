package record

// WebhookCalled says that an API server asked an admission webhook of the scenario. The subject
// is the webhook's name.
type WebhookCalled struct {
	// Operation is CREATE, UPDATE, DELETE or CONNECT.
	Operation string `json:"operation"`
	// Object is resource/namespace/name, and Subresource the part of it that is written. If
	// unset, the object itself is.
	Object      string `json:"object"`
	Subresource string `json:"subresource,omitempty"`
	// User is who asked the API server, and DryRun is true if nothing is to be stored.
	User   string `json:"user"`
	DryRun bool   `json:"dryRun"`
	// Allowed is the answer, Message goes with a refusal, and Patch is what is to be changed:
	// each operation with its path, as in "remove /spec/replicas".
	Allowed bool     `json:"allowed"`
	Message string   `json:"message,omitempty"`
	Patch   []string `json:"patch"`
	// Error says why there was no answer.
	Error string `json:"error,omitempty"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
}

// WebhookSet says what an admission webhook of the scenario answers from then on, as the step
// says it: all API servers know that it is to be asked. The subject is its name.
type WebhookSet struct {
	Answers string `json:"answers"`
}
