package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// emulate adds the flags of the versions that a component is given to emulate and to expect.
func (f flags) emulate(settings record.Settings) {
	for name, v := range map[string]release.Version{
		"emulated-version": settings.EmulatedVersion, "min-compatibility-version": settings.MinCompatibilityVersion,
	} {
		if v != "" {
			f[name] = strings.TrimPrefix(v.MajorMinor(), "v")
		}
	}
}

// versionInfo is the metric in which a component says what it emulates
// (k8s.io/component-base/metrics/prometheus/compatversion).
var versionInfo = regexp.MustCompile(`(?m)^version_info\{binary="[^"]*",component="kube",emulation="([^"]*)",min_compat="([^"]*)"\} 1$`)

// readEmulation asks a component what it emulates, if it is given a version, and says so of what
// started.
func (comp *component) readEmulation(ctx context.Context, asker *http.Client, what *record.ComponentStarted) error {
	if !comp.settings.Emulates() {
		return nil
	}
	metrics, err := url.Parse(comp.health)
	if err != nil {
		return err
	}
	metrics.Path = "/metrics"
	text, err := read(ctx, asker, metrics.String())
	if err != nil {
		return fmt.Errorf("asking %s which version it emulates: %w", comp.name, err)
	}
	found := versionInfo.FindSubmatch(text)
	if found == nil {
		return fmt.Errorf("%s %s does not say which version it emulates: it has no metric version_info", comp.name, what.Version)
	}
	what.EmulatedVersion, what.MinCompatibilityVersion = release.Version("v"+string(found[1])), release.Version("v"+string(found[2]))
	for _, v := range []struct{ wanted, is release.Version }{
		{comp.settings.EmulatedVersion, what.EmulatedVersion}, {comp.settings.MinCompatibilityVersion, what.MinCompatibilityVersion},
	} {
		if v.wanted != "" && v.wanted.MajorMinor() != string(v.is) {
			err = errors.Join(err, fmt.Errorf("%s reports %s, but is configured for %s", comp.name, v.is, v.wanted))
		}
	}
	return err
}
