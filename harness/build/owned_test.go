package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACacheThatOthersCanWriteIsRefused(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	created := Builder{Dir: filepath.Join(parent, "created")}
	if _, err := created.store(); err != nil {
		t.Error(err)
	}
	for name, mode := range map[string]os.FileMode{"group": 0o770, "all": 0o707} {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		b := Builder{Dir: dir}
		if _, err := b.store(); err == nil || !strings.Contains(err.Error(), "chmod go-w "+dir) {
			t.Errorf("writable by %s: %v", name, err)
		}
	}
	for _, c := range []struct {
		owner, user int
		sudo        string
		want        bool
	}{{1000, 1000, "", true}, {0, 1000, "", true}, {1001, 1000, "", false}, {1000, 0, "", false}, {1000, 0, "1000", true}, {1000, 1001, "1000", false}} {
		if got := trusted(c.owner, c.user, c.sudo); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
