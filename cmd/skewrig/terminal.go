package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// registerLevel gives all commands the flags that say how much they tell beside
// their results.
func registerLevel(root *cobra.Command) {
	root.PersistentFlags().BoolP("quiet", "q", false, "print results and errors only")
	root.PersistentFlags().BoolP("verbose", "v", false, "also print each step when it begins")
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
}

// is reports whether a flag of the root is set. Where there is no such flag, as
// in a command that a test made without its root, it is not.
func is(cmd *cobra.Command, flag string) bool {
	set, err := cmd.Flags().GetBool(flag)
	return err == nil && set
}

// news is where a command tells what it is doing: nowhere if it is to be quiet.
func news(cmd *cobra.Command) io.Writer {
	if is(cmd, "quiet") {
		return io.Discard
	}
	return cmd.ErrOrStderr()
}

// isTerminal reports whether what is written is read on a terminal that can do
// more than print.
func isTerminal(w io.Writer) bool {
	file, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// columns is how wide the terminal is on which something is read, in characters. It is
// 0 if that is none: what is read there is not wrapped.
func columns(w io.Writer) int {
	file, isFile := w.(*os.File)
	if !isFile || !isTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// colorful reports whether what is written should be in color: on a terminal,
// unless NO_COLOR is set (https://no-color.org), and anywhere if CLICOLOR_FORCE is
// set to something else than 0.
func colorful(w io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if forced := os.Getenv("CLICOLOR_FORCE"); forced != "" && forced != "0" {
		return true
	}
	return isTerminal(w)
}
