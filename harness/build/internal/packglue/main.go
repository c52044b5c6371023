// Command packglue packs the Go files below a directory into one txtar file.
package main

import (
	"fmt"
	"os"

	"github.com/skewrig/skewrig/harness/build/internal/packglue/pack"
)

func main() {
	text, err := pack.Dir(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packglue:", err)
		os.Exit(1)
	}
}
