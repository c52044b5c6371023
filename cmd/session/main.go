// Command session runs a command and draws, as an SVG, a terminal in which its lines
// appear when they were printed. GitHub shows such a file as a picture that moves. It is
// run in the root of the repository, by make pictures.
//
//	session 'skewrig run "kep-4939/**"' > session.svg
//
// The command is one of the shell. The SVG shows it as it is given.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/process"
)

// columns is the width of the terminal, in characters. Programs are told by COLUMNS.
const columns = 110

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: session COMMAND > FILE")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "session:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command string, w io.Writer) error {
	s, err := record(ctx, command)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, s.svg())
	return err
}

// record runs a command of the shell and notes when it printed which line. It is an
// error if the command fails: what it printed then is in the error.
func record(ctx context.Context, command string) (session, error) {
	reader, writer := io.Pipe()
	began := time.Now()
	ended := make(chan error, 1)
	go func() {
		_, err := process.Command{
			Path: "sh", Args: []string{"-c", command}, Env: append(process.UserEnv(), "CLICOLOR_FORCE=1", "COLUMNS="+strconv.Itoa(columns)),
			Stdout: writer, Stderr: writer, // one pipe keeps the order
		}.Run(ctx)
		ended <- errors.Join(err, writer.Close())
	}()
	s := session{Command: command}
	lines := bufio.NewScanner(reader)
	var printed strings.Builder
	for lines.Scan() {
		s.Lines = append(s.Lines, line{At: time.Since(began), Text: lines.Text()})
		fmt.Fprintln(&printed, lines.Text())
	}
	if err := errors.Join(lines.Err(), reader.Close(), <-ended); err != nil {
		return s, fmt.Errorf("%s: %w\n%s", command, err, &printed)
	}
	return s, nil
}
