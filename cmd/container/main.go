// Command container is the program in the images that containers of skewrig's nodes run.
package main

import (
	"os"

	"github.com/skewrig/skewrig/fakeservers/container"
)

func main() { os.Exit(container.Main()) }
