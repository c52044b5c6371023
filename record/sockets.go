package record

// SocketsRead is the TCP sockets that a component had. The subject is the step's
// name.
type SocketsRead struct {
	Component string   `json:"component"`
	Sockets   []Socket `json:"sockets"`
}

// Socket is a TCP socket in a state.
type Socket struct {
	// Local and Remote are IP address and port of the two ends.
	Local  string `json:"local"`
	Remote string `json:"remote"`
	// State is the kernel's name of it: "ESTABLISHED", "TIME_WAIT".
	State string `json:"state"`
}
