package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
)

// playerImageFlags are those of skewrig build player-image.
type playerImageFlags struct {
	binaries
	output
	to string
}

// playerImage is an image that was made.
type playerImage struct {
	Image string `json:"image"`
	File  string `json:"file"`
}

func newPlayerImage() *cobra.Command {
	var f playerImageFlags
	cmd := &cobra.Command{
		Use:   "player-image IMAGE",
		Short: "Make the image that plays others on a cluster of yours",
		Long: `Make the image that plays the images of scenarios on a cluster that there is, and write it to a
file, for docker load and for tools that push to a registry. It needs no Docker. IMAGE is its
name: the nodes of the cluster have to be able to pull it.`,
		Example: `  skewrig build player-image registry.example/skewrig-player:1 --to player.tar
  crane push player.tar registry.example/skewrig-player:1
  skewrig run --provider cluster --player-image registry.example/skewrig-player:1 kep-4939/e2e`,
		Args: cobra.ExactArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.to, "to", "player-image.tar", "the file")
	return cmd
}

func (f *playerImageFlags) run(cmd *cobra.Command, args []string) error {
	builder, here, err := f.open(cmd)
	if err != nil {
		return err
	}
	done := f.telling(cmd, builder)
	defer done()
	if err := app.PlayerImage(cmd.Context(), builder, here.Cells(), args[0], f.to); err != nil {
		return err
	}
	return printResult(cmd, f.output, []playerImage{{args[0], f.to}}, func(w io.Writer, made []playerImage) {
		table(w, "IMAGE\tFILE", made, func(i playerImage) string { return fmt.Sprintf("%s\t%s", i.Image, i.File) })
	})
}
