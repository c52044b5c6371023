package containerd

import _ "embed"

//go:embed while.sh
var while string

// While returns the arguments with which a shell runs a command while a containerd runs, in a container that has its
// programs and is no node.
func While(command ...string) []string { return append([]string{"-c", while, "sh"}, command...) }
