package runtime

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// runTestProgram plays what its arguments say: "program VERB [ARG ...]".
func runTestProgram(ctx context.Context, p *image.Process) int {
	switch verb, args := p.Args[1], p.Args[2:]; verb {
	case "obey": // CODE: ends with CODE on the first signal
		p.SayUp()
		select {
		case <-ctx.Done():
			return 99 // the code is not used: the process was killed
		case s := <-p.Signals:
			fmt.Fprintln(p.Stdout, "got", int(s))
			return number(args[0])
		}
	case "late": // takes a while to come up
		pass(ctx, 50*time.Millisecond)
		fmt.Fprintln(p.Stdout, "up")
		p.SayUp()
		<-ctx.Done()
		return 99
	case "ignore": // ignores signals, but tells of them
		p.SayUp()
		for {
			select {
			case <-ctx.Done():
				return 99
			case s := <-p.Signals:
				fmt.Fprintln(p.Stdout, "got", int(s))
			}
		}
	case "exit": // CODE
		return number(args[0])
	case "copy": // the standard input, line by line, and says when it ends
		p.SayUp()
		return copyLines(p.Streams)
	case "print": // TEXT ...: alternately to stdout and stderr
		for i, text := range args {
			io.WriteString([]io.Writer{p.Stdout, p.Stderr}[i%2], text)
		}
		return 0
	case "environment":
		fmt.Fprintln(p.Stdout, p.Container, p.IP, strings.Join(p.Env, " "), p.Mounts)
		return 0
	case "panic":
		panic("out of cheese")
	case "serve": // PORT
		return serve(ctx, p, args[0])
	}
	return 127
}

func pass(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func serve(ctx context.Context, p *image.Process, port string) int {
	listener, err := net.Listen("tcp", net.JoinHostPort(p.IP.String(), port))
	if err != nil {
		fmt.Fprintln(p.Stderr, err)
		return 1
	}
	defer listener.Close()
	fmt.Fprintln(p.Stdout, "listening")
	p.SayUp()
	select {
	case <-ctx.Done():
	case <-p.Signals:
	}
	return 0
}

// runTestCommand plays the commands that are run beside a program.
func runTestCommand(ctx context.Context, p *image.Process, args []string, streams image.Streams) int {
	stdout, stderr := streams.Stdout, streams.Stderr
	switch args[0] {
	case "echo":
		fmt.Fprintln(stdout, strings.Join(args[1:], " "))
		fmt.Fprintln(stderr, "in", p.Container)
		return 0
	case "exit":
		return number(args[1])
	case "say": // TEXT: to the container's log
		fmt.Fprintln(p.Stdout, args[1])
		return 0
	case "write": // NAME BYTES: a file
		if err := p.WriteFile(args[1], make([]byte, number(args[2]))); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		return 0
	case "hang":
		fmt.Fprintln(p.Stdout, "hanging")
		<-ctx.Done()
		return 0
	case "flood":
		chunk := bytes.Repeat([]byte{'x'}, 1<<20)
		for range 10 {
			stdout.Write(chunk)
			stderr.Write(chunk)
		}
		return 5
	case "copy":
		return copyLines(streams)
	case "await": // a signal
		fmt.Fprintln(stdout, "awaiting")
		select {
		case <-ctx.Done():
			return 99
		case s := <-streams.Signals:
			return 128 + int(s)
		}
	case "panic":
		panic("out of cheese")
	}
	return 127
}

// copyLines copies the standard input until it ends for the second time at a
// terminal, or for the first.
func copyLines(streams image.Streams) int {
	if streams.Stdin == nil {
		fmt.Fprintln(streams.Stdout, "no input")
		return 1
	}
	for range map[bool]int{true: 2, false: 1}[streams.Terminal] {
		lines := bufio.NewScanner(streams.Stdin)
		for lines.Scan() {
			fmt.Fprintln(streams.Stdout, "line "+lines.Text())
		}
		fmt.Fprintln(streams.Stderr, "end", lines.Err())
	}
	return 4
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}
