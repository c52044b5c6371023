package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newDocs makes documentation of the command tree. It is for those who package
// skewrig: it is not listed.
func newDocs() *cobra.Command {
	cmd := &cobra.Command{
		Use: "docs", Short: "Write the documentation of all commands", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "man DIR", Short: "Write man pages, dated by SOURCE_DATE_EPOCH or today", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "skewrig " + root.Version, Manual: "skewrig"}, args[0])
		},
	})
	return cmd
}
