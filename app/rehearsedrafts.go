package app

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/show"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// draftsDir has drafts of issues about findings, each with a manifest that shows it.
const draftsDir = "drafts"

// writeDrafts writes the drafts of issues about findings.
func (r Rehearsal) writeDrafts(report rehearse.Report) error {
	var all []error
	for name, text := range show.Drafts(report, r.manifest) {
		dir, err := files.MkdirBelow(r.Dir, draftsDir, 0o755)
		if err == nil {
			err = files.WriteBytes(filepath.Join(dir, name), 0o644, text)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// manifest is an object of the input as YAML, after the definition of its kind if the input has that. The data of a Secret is
// left out.
func (r Rehearsal) manifest(of rehearse.Ref) []byte {
	var text bytes.Buffer
	for _, o := range r.Input.Objects {
		kind, _, defines := kube.Definition(o.Object)
		isDefinition := defines && kind == of.Kind
		if !isDefinition && rehearse.RefOf(o).AsRead() != of.AsRead() {
			continue
		}
		object := maps.Clone(o.Object)
		if of.Kind == "Secret" {
			delete(object, "data")
			delete(object, "stringData")
		}
		one, err := yaml.Marshal(object)
		if err != nil {
			continue // an object that was read as YAML can be written
		}
		fmt.Fprintf(&text, "---\n%s", one)
	}
	return text.Bytes()
}
