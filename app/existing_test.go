package app_test

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/app"
)

// TestImagesOfAnExistingClusterAreCheckedFirst: what can't be pulled is said before anything is asked of
// the cluster, of which there is none here.
func TestImagesOfAnExistingClusterAreCheckedFirst(t *testing.T) {
	for name, test := range map[string]struct {
		on   app.ExistingCluster
		says string
	}{
		"a pattern to pull":   {app.ExistingCluster{Images: []string{"B!"}}, "cluster.images: "},
		"a pattern to mock":   {app.ExistingCluster{Player: "registry.example/*:1"}, "cluster.mockImage: "},
		"pulled, and mocked":  {app.ExistingCluster{Player: "registry.example/player:1", Images: []string{"a"}}, "cluster.mockImage: "},
		"no name, and a port": {app.ExistingCluster{Player: ":1"}, "cluster.mockImage: "},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := test.on.Open(t.Context(), nil); err == nil || !strings.HasPrefix(err.Error(), test.says) {
				t.Errorf("got %v, want an error that starts with %q", err, test.says)
			}
		})
	}
}
