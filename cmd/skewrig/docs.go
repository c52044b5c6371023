package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/docs"
)

var _ = register(lookUp, newDocs)

func newDocs() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "docs [PAGE]",
		Short: "Print a page of the manual",
		Long: `Print a page of the manual, or a file that one shows. Without a page, list all. Where
a page names a YAML or Go file below docs, the file is inside skewrig, too.`,
		Example: `  skewrig docs
  skewrig docs own-catalog
  skewrig docs language                       # the scenario language, whole
  skewrig docs examples/payments/pod.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if out.json() {
					return errors.New("--output json lists the pages, and prints none: leave the page out")
				}
				text, err := docs.Get(args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(cmd.OutOrStdout(), text)
				return app.Failed(err)
			}
			pages, err := docs.Pages()
			if err != nil {
				return app.Failed(err)
			}
			return printResult(cmd, out, pages, func(w io.Writer, pages []docs.Page) {
				table(w, "PAGE\tABOUT", pages, func(p docs.Page) string { return p.Name + "\t" + p.Title })
			})
		},
	}
	out.register(cmd)
	cmd.AddCommand(newMan())
	return cmd
}

// newMan makes man pages of the command tree. It is for those who package skewrig: it is
// not listed.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write man pages, dated by SOURCE_DATE_EPOCH or today", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "skewrig " + root.Version, Manual: "skewrig"}, args[0])
		},
	}
}
