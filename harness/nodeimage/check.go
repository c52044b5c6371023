package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/skewrig/skewrig/harness/docker"
)

// Check returns why node images can't be made here: all that is missing.
func Check(ctx context.Context) error {
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("it takes root, to install Debian into a directory: run skewrig as root (sudo)"))
	}
	for _, program := range []string{"debootstrap", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, fmt.Errorf("the program %s is not in PATH (on Debian and Ubuntu: apt-get install %s)", program, program))
		}
	}
	missing = append(missing, docker.Check(ctx))
	if err := errors.Join(missing...); err != nil {
		return fmt.Errorf("this machine can't make node images:\n%w", err)
	}
	return nil
}
