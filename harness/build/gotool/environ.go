package gotool

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
)

// goFixed is what the Go command always runs with. CGO_ENABLED is off so that a binary is the
// same with and without a C compiler. GOFLAGS has a flag that changes nothing, as binaries have no
// stamp of a repository: if it were empty, the Go command would read it from a file. The other
// settings are those that shape a binary, or the modules that it is made of, and are in no key.
var goFixed = []string{
	"GOENV=off", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off", "GO111MODULE=on", "GO_EXTLINK_ENABLED=0",
}

// Keyed are the variables that shape a binary and are part of its key. Those of other
// architectures are empty.
var Keyed = []string{
	"GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOEXPERIMENT", "GOFIPS140",
	"GOARM64", "GOARM", "GO386", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64",
}

// goWhere are the variables that say where modules and toolchains come from and are stored. What
// they contain is checked by its sum.
var goWhere = []string{
	"GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOVCS", "GOAUTH",
	"GOPATH", "GOMODCACHE", "GOCACHE", "GOCACHEPROG", "GOTMPDIR", "GOTOOLCHAIN",
}

// goEnviron returns the environment of the Go command: that of this process, with what of the
// user's configuration (go env -w) is in a key or does not shape a binary.
func goEnviron() ([]string, error) {
	text, err := userGoEnv()
	if err != nil {
		return nil, err
	}
	environ := os.Environ()
	for line := range bytes.Lines(text) {
		name, value, set := strings.Cut(strings.TrimSpace(string(line)), "=")
		if set && os.Getenv(name) == "" && (slices.Contains(Keyed, name) || slices.Contains(goWhere, name)) {
			environ = append(environ, name+"="+value)
		}
	}
	return append(environ, goFixed...), nil
}

// userGoEnv returns the text of the file in which go env -w stores the user's configuration, or
// nothing if there is none.
func userGoEnv() ([]byte, error) {
	path := os.Getenv("GOENV")
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, nil //nolint:nilerr // nor does the Go command have one
		}
		path = filepath.Join(dir, "go", "env")
	}
	if path == "off" {
		return nil, nil
	}
	text, err := files.Read(path, files.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
