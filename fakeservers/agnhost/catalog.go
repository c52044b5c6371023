package agnhost

import (
	"fmt"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/shell"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// NewCatalog returns what plays the images that a scenario maps, and after them those of
// Entries. The released health probes that mapped images have are found by their release:
// one that is not there is an error, as is a pattern that can't be understood.
func NewCatalog(images []record.Image, probes map[release.Version]shell.HealthProbe) (*image.Catalog, error) {
	var entries []image.Entry
	for _, i := range images {
		fake := Listeners(i.Listen...)
		if i.HealthProbe != "" {
			probe, found := probes[i.HealthProbe]
			if !found {
				return nil, fmt.Errorf("image %s: there is no grpc_health_probe %s", i.Image, i.HealthProbe)
			}
			fake = shell.WithHealthProbe(fake, probe)
		}
		entries = append(entries, image.Entry{Pattern: i.Image, Image: fake})
	}
	return image.NewCatalog(append(entries, Entries()...)...)
}
