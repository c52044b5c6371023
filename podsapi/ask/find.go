package ask

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/podsapi/client"
)

// KubeletDir is the directory of a machine's kubelet, unless configured otherwise.
const KubeletDir = "/var/lib/kubelet"

// Find returns the first socket of the Pods API that is there below a kubelet's
// directory: where released kubelets have it, or where KEP-4188 says. The error, an
// *Error, says where it was looked for. A place that one may not look at counts as
// one that has it, so that the call reports the reason.
func Find(kubeletDir string) (string, error) {
	var looked []string
	for _, place := range client.Places {
		path := filepath.Join(kubeletDir, place)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		looked = append(looked, path)
	}
	return "", &Error{
		Problem: "there is no socket at " + strings.Join(looked, ", nor at "),
		Advice:  "turn on the kubelet's feature gate PodsAPI, or name the socket with --socket",
	}
}
