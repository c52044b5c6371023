package app

import (
	"fmt"
	"time"

	"github.com/skewrig/skewrig/harness/build"
)

// learning is how long something is compiled before it can be said how long the rest takes.
const learning = 10 * time.Second

// BuildLine says how far the work on a program is: kubelet@v1.90.1 compiling: 450 of 1800
// packages, about 2m left.
func BuildLine(program string, p build.Progress) string {
	line := fmt.Sprintf("%s %s", program, p.State)
	switch {
	case p.State == build.Downloading:
		return fmt.Sprintf("%s: %d modules so far", line, p.Done)
	case p.State != build.Compiling || p.Of == 0:
		return line
	}
	line += fmt.Sprintf(": %d of %d packages", p.Done, p.Of)
	if p.Compiled < learning || p.Done == 0 {
		return line
	}
	left := time.Duration(float64(p.Compiled) / float64(p.Done) * float64(p.Of-p.Done))
	return line + ", " + roughly(left) + " left"
}
