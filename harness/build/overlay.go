package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// Overlay is a file that is compiled instead of one of k8s.io/kubernetes.
type Overlay struct {
	// Component is the one that has it. If unset, all of k8s.io/kubernetes have.
	Component Component
	// Version is the release that has it. If unset, all have.
	Version release.Version
	// Path is what it replaces, within the module, and File the file itself.
	Path, File string
}

// ParseOverlay reads what a user wants compiled: PATH=FILE, or COMPONENT:PATH=FILE, or
// COMPONENT@RELEASE:PATH=FILE.
func ParseOverlay(text string, releases release.Releases) (o Overlay, err error) {
	path, file, ok := strings.Cut(text, "=")
	if !ok || path == "" || file == "" {
		return o, errors.New("want PATH=FILE, or COMPONENT@RELEASE:PATH=FILE")
	}
	o.Path, o.File = path, file
	if of, within, one := strings.Cut(path, ":"); one {
		target, version, versioned := strings.Cut(of, "@")
		if o.Component, o.Path = Component(target), within; !o.Component.isKubernetes() {
			return o, fmt.Errorf("%q is no component of k8s.io/kubernetes", target)
		}
		if versioned {
			if o.Version, err = o.Component.Resolve(version, releases); err != nil {
				return o, err
			}
		}
	}
	if !fs.ValidPath(o.Path) {
		return o, fmt.Errorf("%q is no path in k8s.io/kubernetes, like pkg/probe/grpc/grpc.go", o.Path)
	}
	_, err = os.Stat(file)
	return o, err
}

// Applies reports whether the file is compiled into a target.
func (o Overlay) Applies(t Target) bool {
	return t.Component.isKubernetes() && (o.Component == "" || o.Component == t.Component) && (o.Version == "" || o.Version == t.Version)
}

// whole is a target with the builder's overlays, and the checkout that it is compiled from.
func (b *Builder) whole(t Target) Target {
	t.checkout = b.checkoutOf(t.Version)
	t = b.withStandIns(t)
	replaced := maps.Clone(t.Overlay)
	for _, o := range b.Overlays {
		if o.Applies(t) {
			if replaced == nil {
				replaced = make(map[string]string)
			}
			replaced[o.Path] = o.File
		}
	}
	t.Overlay = replaced
	return t
}
