package agnhost

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/shell"
)

const (
	// mountContent is what a new file holds.
	mountContent = "mount-tester new file\n"
	// mountRetry is how long mounttest waits before it reads a file again.
	mountRetry = 2 * time.Second
)

// mountFlags are the flags of mounttest.
type mountFlags struct {
	fsType, mode, perm, owner string
	newFiles                  []*string
	content, contentInLoop    string
	retrySeconds              int
	breakOnContent            bool
}

// mountTest writes and describes the files that its flags name, in this order:
// a file can be written and then read. File system types and owners are not
// played: nothing is mounted here, and everything has one owner.
func mountTest(flags *pflag.FlagSet) runner {
	f := &mountFlags{}
	flags.StringVar(&f.fsType, "fs_type", "", "Path to print the fs type for")
	flags.StringVar(&f.mode, "file_mode", "", "Path to print the mode bits of")
	flags.StringVar(&f.perm, "file_perm", "", "Path to print the perms of")
	flags.StringVar(&f.owner, "file_owner", "", "Path to print the owning UID and GID of")
	for _, perm := range []string{"0644", "0666", "0660", "0777"} {
		f.newFiles = append(f.newFiles, flags.String("new_file_"+perm, "", "Path to write to and read from with perm "+perm))
	}
	flags.StringVar(&f.content, "file_content", "", "Path to read the file content from")
	flags.StringVar(&f.contentInLoop, "file_content_in_loop", "", "Path to read the file content in loop from")
	flags.IntVar(&f.retrySeconds, "retry_time", 180, "Retry time during the loop")
	flags.BoolVar(&f.breakOnContent, "break_on_expected_content", true, "Break out of loop on expected content, (use with --file_content_in_loop flag only)")
	return func(ctx context.Context, p *process) int {
		return p.untilSignal(ctx, func(ctx context.Context) int { return f.run(ctx, p) })
	}
}

func (f *mountFlags) run(ctx context.Context, p *process) int {
	var failed error
	note := func(err error) {
		if err != nil {
			fmt.Fprintln(p.Stdout, err)
			failed = err
		}
	}
	note(notPlayedFlag("fs_type", f.fsType))
	for _, name := range f.newFiles {
		note(p.writeNewFile(*name))
	}
	note(p.printMode("mode", f.mode, func(mode fs.FileMode) fs.FileMode { return mode }))
	note(p.printMode("perms", f.perm, fs.FileMode.Perm))
	note(notPlayedFlag("file_owner", f.owner))
	note(p.printContent(f.content))
	note(f.printInLoop(ctx, p))
	switch {
	case ctx.Err() != nil:
		return shell.ExitKilled
	case failed != nil:
		return exitError
	}
	return 0
}

func notPlayedFlag(flag, value string) error {
	if value == "" {
		return nil
	}
	return fmt.Errorf("skewrig doesn't implement --%s of mounttest", flag)
}

func (p *process) writeNewFile(name string) error {
	if name == "" {
		return nil
	}
	if err := p.WriteFile(name, []byte(mountContent)); err != nil {
		return fmt.Errorf("error writing new file %q: %w", name, err)
	}
	return p.printContent(name)
}

func (p *process) printContent(name string) error {
	if name == "" {
		return nil
	}
	data, err := p.ReadFile(name)
	if err != nil {
		return fmt.Errorf("error reading file content for %q: %w", name, err)
	}
	fmt.Fprintf(p.Stdout, "content of file %q: %s\n", name, data)
	return nil
}

func (p *process) printMode(what, name string, of func(fs.FileMode) fs.FileMode) error {
	if name == "" {
		return nil
	}
	mode, err := p.Stat(name)
	if err == nil {
		fmt.Fprintf(p.Stdout, "%s of file %q: %v\n", what, name, of(mode))
	}
	return err
}

// printInLoop reads a file again and again, until it is as expected or the
// time is over.
func (f *mountFlags) printInLoop(ctx context.Context, p *process) error {
	if f.contentInLoop == "" {
		return nil
	}
	var err error
	end := time.Now().Add(time.Duration(f.retrySeconds) * time.Second)
	for time.Now().Before(end) {
		var data []byte
		data, err = p.ReadFile(f.contentInLoop)
		if err == nil {
			fmt.Fprintf(p.Stdout, "content of file %q: %s\n", f.contentInLoop, data)
		}
		if err == nil && f.breakOnContent && string(data) == mountContent {
			return nil
		}
		if !shell.Pass(ctx, mountRetry) {
			return ctx.Err()
		}
	}
	return err
}
