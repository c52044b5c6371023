package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

// mockImageFlags are those of skewrig build mock-image.
type mockImageFlags struct {
	binaries
	output
	to string
}

// mockImage is an image that was built.
type mockImage struct {
	Image string `json:"image"`
	File  string `json:"file"`
}

func newMockImage() *cobra.Command {
	var f mockImageFlags
	cmd := &cobra.Command{
		Use:   "mock-image IMAGE",
		Short: "Build the image of mocks for --provider cluster",
		Long: `Build the image that mocks the images of scenarios on an existing cluster, and write it to a
file, for docker load and for tools that push to a registry. It needs no Docker. IMAGE is its
name: the nodes of the cluster have to be able to pull it.`,
		Example: `  skewrig build mock-image registry.example/skewrig-mock:1 --to mock.tar
  crane push mock.tar registry.example/skewrig-mock:1
  skewrig run --provider cluster --provider-config mine.yaml kep-4939/e2e`,
		Args: cobra.ExactArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.to, "to", "mock-image.tar", "the file that is written")
	return cmd
}

func (f *mockImageFlags) run(cmd *cobra.Command, args []string) error {
	builder, here, err := f.open(cmd)
	if err != nil {
		return err
	}
	done := f.telling(cmd, builder)
	defer done()
	if err := app.PlayerImage(cmd.Context(), builder, here.Cells(), args[0], f.to); err != nil {
		return err
	}
	return printResult(cmd, f.output, []mockImage{{args[0], f.to}}, func(w io.Writer, built []mockImage) {
		table(w, "IMAGE\tFILE", built, func(i mockImage) string { return fmt.Sprintf("%s\t%s", i.Image, i.File) })
	})
}
