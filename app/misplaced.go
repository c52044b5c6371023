package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// misplaced explains what a file is that was given as a scenario and is something else:
// an object of Kubernetes, a cluster of kind, a list of known deviations, or not there. It
// is nil for all others: the decoder of scenarios says what is wrong with them.
func misplaced(path string) error {
	text, err := files.Read(path, files.MaxText)
	var head struct{ APIVersion, Kind string }
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", path)
	}
	if err != nil || yaml.Unmarshal(text, &head) != nil || head.Kind == "" || head.Kind == spec.Kind {
		return nil //nolint:nilerr // the decoder says it
	}
	switch of, _, _ := strings.Cut(head.APIVersion, "/"); {
	case head.APIVersion == kindAPIVersion:
		return fmt.Errorf("%s is a cluster file of kind, and no scenario: skewrig cluster up %s starts it", path, path)
	case head.APIVersion == spec.APIVersion && head.Kind == known.Kind:
		return fmt.Errorf("%s is a list of known deviations, and no scenario: give it with --known-deviations %s", path, path)
	case head.APIVersion == "" || strings.HasSuffix(of, "skewrig.dev"):
		return nil
	}
	return fmt.Errorf("%s is a %s (%s), and no scenario: %swrite a scenario beside it that applies it, with the step {file: %s}; skewrig docs own-catalog has one to copy",
		path, head.Kind, head.APIVersion, firstOf(path, head.APIVersion, head.Kind), filepath.Base(path))
}

// firstOf says how Init makes a first scenario of a manifest, if Init takes its kind.
func firstOf(path, apiVersion, kind string) string {
	if of := apiVersion + " " + kind; of != "v1 Pod" && of != "apps/v1 Deployment" {
		return ""
	}
	return fmt.Sprintf("skewrig init --pod %s makes a catalog with a first one; or ", path)
}
