package record

// StoredRead is what etcd had of an object. The subject is the step's name.
type StoredRead struct {
	// Object is resource/namespace/name, and Key where etcd has it.
	Object string `json:"object"`
	Key    string `json:"key"`
	// Encoding is "protobuf", "json" or "unknown".
	Encoding string `json:"encoding"`
	// APIVersion and Kind are those of the stored form.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Bytes is the size of the value.
	Bytes int `json:"bytes"`
	// Fields are those of an object in protobuf, in the order in which they are
	// stored, each before those within it.
	Fields []StoredField `json:"fields"`
	// Content is an object in JSON.
	Content any `json:"content,omitempty"`
}

// The encodings of stored objects.
const (
	StoredProtobuf = "protobuf"
	StoredJSON     = "json"
	StoredUnknown  = "unknown"
)

// StoredField is a field in protobuf, read without a schema.
type StoredField struct {
	// Path is the numbers of the fields that lead to it, joined by dots. The elements
	// of a list have the same one.
	Path string `json:"path"`
	// Wire is the wire type: "varint", "fixed32", "fixed64" or "bytes".
	Wire string `json:"wire"`
	// Bytes is the size of the field, with its tag and length.
	Bytes int `json:"bytes"`
	// Value is the number, or the text. A message has none: its fields follow.
	// What is neither is in base64.
	Value any `json:"value,omitempty"`
}
