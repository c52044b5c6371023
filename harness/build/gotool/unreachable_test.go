package gotool

import (
	"errors"
	"strings"
	"testing"
)

// TestUnreachable: the modules are named once each, whichever way the Go command says that it
// could not ask for them, and what else it prints is no reason.
func TestUnreachable(t *testing.T) {
	for _, test := range []struct{ name, said, want string }{
		{"build", "module/pkg/probe/grpc/grpc.go:28:2: google.golang.org/grpc@v1.72.1: Get \"https://proxy.example/google.golang.org/grpc/@v/v1.72.1.zip\": dial tcp: lookup proxy.example: no such host\n" +
			"module/pkg/probe/grpc/grpc.go:29:2: google.golang.org/grpc@v1.72.1: Get \"https://proxy.example/google.golang.org/grpc/@v/v1.72.1.zip\": dial tcp: lookup proxy.example: no such host\n" +
			"module/pkg/kubelet/a.go:1:2: k8s.io/api@v0.34.4: Get \"https://proxy.example/k8s.io/api/@v/v0.34.4.zip\": dial tcp: lookup proxy.example: no such host\n",
			"the module proxy can't be reached for google.golang.org/grpc@v1.72.1, k8s.io/api@v0.34.4: dial tcp: lookup proxy.example: no such host (set"},
		{"list", "go: k8s.io/kubernetes@v1.35.9: Get \"http://127.0.0.1:1/k8s.io/kubernetes/@v/v1.35.9.info\": dial tcp 127.0.0.1:1: connect: connection refused",
			"the module proxy can't be reached for k8s.io/kubernetes@v1.35.9: dial tcp 127.0.0.1:1: connect: connection refused (set"},
		{"off", "k8s.io/kubernetes@v1.35.9: module lookup disabled by GOPROXY=off", "the module proxy can't be reached for k8s.io/kubernetes@v1.35.9: module lookup disabled by GOPROXY=off (set"},
		{"many", "a@v1: dial tcp\nb@v1: dial tcp\nc@v1: dial tcp\nd@v1: dial tcp\ne@v1: dial tcp\n", "for a@v1, b@v1, c@v1 and 2 more: dial tcp (set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := unreachable(test.said)
			if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it is %v, want %q in it", err, test.want)
			}
		})
	}
	for _, other := range []string{"", "module/a.go:3:2: undefined: dial", "go: k8s.io/kubernetes@v1.99.0: reading https://proxy.example/k8s.io/kubernetes/@v/v1.99.0.info: 404 Not Found",
		"/cache/pkg/mod/k8s.io/api@v0.34.4/a.go:3:2: dial tcp is a text of a program"} {
		if err := unreachable(other); err != nil {
			t.Errorf("%q is taken for a proxy that can't be reached: %v", other, err)
		}
	}
}
