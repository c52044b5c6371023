package known

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Draft is an entry that a list does not have yet: checks of a cell that fail for one reason.
type Draft struct {
	Cells  string   `yaml:"cells"`
	Checks []string `yaml:"checks,flow"`
	Reason string   `yaml:"reason"`
	Link   string   `yaml:"link"`
}

// nowhere is the link of an entry of which nothing is written yet.
const nowhere = "https://github.com/kubernetes/kubernetes/issues"

// YAML is the entry as it stands under deviations in a list. Its link is to be replaced by that
// of the report of the deviation, and says so.
func (d Draft) YAML() string {
	d.Reason = strings.Join(strings.Fields(d.Reason), " ")
	if d.Link == "" {
		d.Link = nowhere
	}
	text, err := yaml.Marshal([]Draft{d})
	if err != nil {
		return "" // texts can be encoded
	}
	return fmt.Sprintf("%s  # or where it is reported\n", strings.TrimSuffix(string(text), "\n"))
}
