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

// ConversionCalled says that an API server asked a conversion webhook of the scenario. The subject
// is the name of the CustomResourceDefinition.
type ConversionCalled struct {
	// To is the version that was asked for: example.com/v1.
	To string `json:"to"`
	// Objects are those that were converted.
	Objects []Converted `json:"objects"`
	// Message goes with a refusal. If unset, there was none.
	Message string `json:"message,omitempty"`
	// Error says why there was no answer.
	Error string `json:"error,omitempty"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
}

// Converted is a custom resource that was converted.
type Converted struct {
	// Object is namespace/name, or a name alone, and From is the version that it had.
	Object string `json:"object"`
	From   string `json:"from"`
	// Patch is what was changed but for the version: each operation with its path, as in
	// "remove /spec/replicas".
	Patch []string `json:"patch"`
}

// ConversionSet says how a conversion webhook of the scenario converts from then on, as the step
// says it: all API servers ask it. The subject is the name of the CustomResourceDefinition.
type ConversionSet struct {
	Converts string `json:"converts"`
}
