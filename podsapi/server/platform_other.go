//go:build !linux

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"runtime"
)

// errPlatform is why there is no Pods API here: it must not be served to users
// that aren't known.
var errPlatform = fmt.Errorf("finding the user of a connection on %s: %w: serve the Pods API on Linux", runtime.GOOS, errors.ErrUnsupported)

func credentialOf(*net.UnixConn) (credential, error) { return credential{}, errPlatform }

func owner(fs.FileInfo) (uid int, known bool) { return 0, false }

func supported() error { return errPlatform }
