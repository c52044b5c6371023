package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// ofSkewrig begins the names of images that are nowhere but in skewrig.
const ofSkewrig = "skewrig.dev/"

// unpulled are the images of a cell that a scenario has fake servers for, and that no node of the
// cell is known to have. given are patterns of those that nodes can pull.
func unpulled(cell plan.Cell, nodes map[string]facts.Node, given []string) (reasons []string) {
	faked, err := catalog(patterns(cell))
	if err != nil {
		return []string{err.Error()}
	}
	pulled, err := catalog(given)
	if err != nil {
		return []string{err.Error()}
	}
	seen := make(map[string]bool)
	for _, use := range cell.Uses.Images {
		name := use.Name
		if !matches(faked, name) && !strings.HasPrefix(name, ofSkewrig) || matches(pulled, name) || onAll(nodes, name) || seen[name] {
			continue
		}
		seen[name] = true
		reasons = append(reasons, fmt.Sprintf("image %s is a fake server of the scenario: if the nodes can pull a real one, name it in cluster.images of --provider-config", name))
	}
	return reasons
}

// CheckImages is an error if a pattern of images can't be understood.
func CheckImages(patterns []string) error {
	_, err := catalog(patterns)
	return err
}

// CheckPlayer is an error if a name can't be one image.
func CheckPlayer(name string) error {
	_, err := image.Parse(name)
	return err
}

func patterns(cell plan.Cell) (all []string) {
	for _, i := range cell.Images {
		all = append(all, i.Image)
	}
	return all
}

func catalog(patterns []string) (*image.Catalog, error) {
	var entries []image.Entry
	for _, p := range patterns {
		entries = append(entries, image.Entry{Pattern: p})
	}
	return image.NewCatalog(entries...)
}

func matches(c *image.Catalog, name string) bool {
	_, err := c.Find(name)
	return err == nil
}

// onAll reports whether all nodes have an image.
func onAll(nodes map[string]facts.Node, name string) bool {
	ref, err := image.Parse(name)
	if err != nil || len(nodes) == 0 {
		return false
	}
	for _, n := range nodes {
		if !slices.ContainsFunc(n.Images, func(has string) bool {
			parsed, err := image.Parse(has)
			return err == nil && parsed.String() == ref.String()
		}) {
			return false
		}
	}
	return true
}
