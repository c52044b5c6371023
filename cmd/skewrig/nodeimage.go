package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/release"
)

// nodeImageFlags are those of skewrig build node-image.
type nodeImageFlags struct {
	binaries
	output
}

// nodeImage is an image that was built.
type nodeImage struct {
	Release release.Version `json:"release"`
	Image   string          `json:"image"`
}

func newNodeImage() *cobra.Command {
	var f nodeImageFlags
	cmd := &cobra.Command{
		Use:   "node-image RELEASE ...",
		Short: "Build node images for kind, without a registry",
		Long: `Build node images for kind: Debian's packages, the files of kind's own images, and the
components of a release, built from its module. It takes root, debootstrap and Docker, and no
registry. skewrig run --provider kind finds them by their names.`,
		Example: `  sudo skewrig build node-image newest previous
  sudo skewrig run --provider kind kep-4939/e2e`,
		Args: cobra.MinimumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	return cmd
}

func (f *nodeImageFlags) run(cmd *cobra.Command, args []string) error {
	builder, _, err := f.open(cmd)
	if err != nil {
		return err
	}
	var releases []release.Version
	for _, arg := range args {
		v, err := builder.Releases().Resolve(arg)
		if err != nil {
			return err
		}
		releases = append(releases, v)
	}
	done := f.telling(cmd, builder)
	defer done()
	var built []nodeImage
	for _, v := range releases {
		name, err := app.NodeImage(cmd.Context(), builder, v, func(what string) { fmt.Fprintf(news(cmd), "%s: %s\n", v, what) })
		if err != nil {
			return err
		}
		built = append(built, nodeImage{v, name})
	}
	return printResult(cmd, f.output, built, func(w io.Writer, built []nodeImage) {
		table(w, "RELEASE\tIMAGE", built, func(i nodeImage) string { return fmt.Sprintf("%s\t%s", i.Release, i.Image) })
	})
}
