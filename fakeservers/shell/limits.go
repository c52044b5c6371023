package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Limits of a shell. It runs inside skewrig, which has to survive it.
const (
	// maxScript is the longest script in bytes: that of an argument of Linux (MAX_ARG_STRLEN).
	maxScript = 128 << 10
	// maxNesting is how many parts of a script can be inside one another.
	maxNesting = 2000
	// maxExpansions is how many variables and outputs of commands one command can name.
	maxExpansions = 64
	// maxBraces is how many words {} can make of one.
	maxBraces = 4096
	// maxReplacement is the longest text that ${//} can put in place of each match.
	maxReplacement = 64
	// maxVariables is how many bytes all variables together, and the arguments of a command, can have.
	maxVariables = 1 << 20
	// maxFrames is how many calls of Go can be inside one another, of which a call of the script takes about ten.
	maxFrames = 8_000
	// maxGoroutines is how many the shells of a container may have when one of them starts a command.
	maxGoroutines = 10_000
)

// limit has a shell end by a function when it uses too much, as the kernel kills a process. The error of a handler
// is not enough: the interpreter goes on after one in a value that is assigned.
func (s *session) limit(end func()) {
	var once sync.Once
	s.exceed = func(err error) {
		once.Do(func() {
			s.refuse(err)
			end()
		})
	}
}

// checkLimits refuses a part of a script that could make too much of little at once: between two
// commands, the shell is asked how much it has.
func checkLimits(part syntax.Node) (err error) {
	var around []syntax.Node
	var expansions []int // in the statements around, from the outermost
	syntax.Walk(part, func(node syntax.Node) bool {
		if node == nil {
			if _, is := around[len(around)-1].(*syntax.Stmt); is {
				expansions = expansions[:len(expansions)-1]
			}
			around = around[:len(around)-1]
			return true
		}
		if around = append(around, node); len(around) > maxNesting {
			err = fmt.Errorf("%s: must be at most %d parts inside one another", node.Pos(), maxNesting)
		}
		switch node := node.(type) {
		case *syntax.Stmt:
			expansions = append(expansions, 0)
		case *syntax.ParamExp, *syntax.CmdSubst:
			if len(expansions) > 0 {
				if expansions[len(expansions)-1]++; expansions[len(expansions)-1] > maxExpansions {
					err = fmt.Errorf("%s: must be at most %d variables in one command", node.Pos(), maxExpansions)
				}
			}
			if e, is := node.(*syntax.ParamExp); is && err == nil {
				err = checkReplacement(e)
			}
		case *syntax.Word:
			if braces(node) > maxBraces {
				err = fmt.Errorf("%s: {} must make at most %d words", node.Pos(), maxBraces)
			}
		}
		return err == nil
	})
	return err
}

func checkReplacement(e *syntax.ParamExp) error {
	if e.Repl == nil || e.Repl.With == nil {
		return nil
	}
	if has[*syntax.ParamExp](e.Repl.With) || has[*syntax.CmdSubst](e.Repl.With) || e.Repl.With.End().Offset()-e.Repl.With.Pos().Offset() > maxReplacement {
		return fmt.Errorf("%s: skewrig implements ${//} with a constant of at most %d bytes", e.Pos(), maxReplacement)
	}
	return nil
}

// braces returns how many words brace expansion makes of one, or more than maxBraces.
func braces(word *syntax.Word) int {
	if !slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		literal, is := p.(*syntax.Lit)
		return is && strings.Contains(literal.Value, "{")
	}) {
		return 1
	}
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	syntax.SplitBraces(split)
	return bracesIn(split)
}

func bracesIn(word *syntax.Word) int {
	product := 1
	for _, part := range word.Parts {
		e, is := part.(*syntax.BraceExp)
		if !is {
			continue
		}
		sum := 0
		if e.Sequence {
			sum = sequence(e.Elems)
		} else {
			for _, element := range e.Elems {
				sum = min(sum+bracesIn(element), maxBraces+1)
			}
		}
		product = min(product*max(sum, 1), maxBraces+1)
	}
	return product
}

// sequence returns how many words there are in {FROM..TO}, whatever the step is.
func sequence(elements []*syntax.Word) int {
	if len(elements) < 2 {
		return 1
	}
	from, err := strconv.ParseInt(elements[0].Lit(), 10, 32)
	to, err2 := strconv.ParseInt(elements[1].Lit(), 10, 32)
	switch {
	case err == nil && err2 == nil:
		return int(min(max(to-from, from-to)+1, maxBraces+1))
	case len(elements[0].Lit()) == 1 && len(elements[1].Lit()) == 1:
		return 1 << 8 // letters
	}
	return maxBraces + 1
}

// nests reports whether brackets are so deep in one another that the parser would take too much memory.
func nests(script string) bool {
	depth := 0
	for _, c := range []byte(script) {
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return true
		}
	}
	return false
}

// roomCommand is what the shell is made to run before it assigns what could make a variable longer.
const roomCommand = ownCommands + "room"

// withRoom changes a script so that the shell asks for room before such assignments, and reports
// whether it did. The question is the first part of the value: its exit status is not that of the assignment, if the
// value has one.
func withRoom(part syntax.Node) (changed bool) {
	ask := func(word *syntax.Word) {
		question := &syntax.CmdSubst{Stmts: parsed(roomCommand)}
		word.Parts = slices.Insert(word.Parts, 0, syntax.WordPart(question))
		changed = true
	}
	syntax.Walk(part, func(node syntax.Node) bool {
		assign, is := node.(*syntax.Assign)
		switch {
		case !is:
		case assign.Value != nil && grows(assign.Value):
			ask(assign.Value)
		case assign.Array != nil && len(assign.Array.Elems) > 0 && assign.Array.Elems[0].Value != nil && grows(assign.Array):
			ask(assign.Array.Elems[0].Value)
		}
		return true
	})
	return changed
}

// grows reports whether what is assigned may be longer than what is written.
func grows(value syntax.Node) (found bool) {
	syntax.Walk(value, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.ArithmExp:
			return false
		case *syntax.CmdSubst:
			found = true
		case *syntax.ParamExp:
			found = found || node.Param == nil || !strings.Contains("?#$!", node.Param.Value)
		}
		return !found
	})
	return found
}

// bounded returns a script for the interpreter to parse, changed by withRoom.
func bounded(script, name string) (string, error) {
	file, err := parseScript(script, name)
	if err != nil || !withRoom(file) {
		return script, err
	}
	var changed strings.Builder
	err = syntax.NewPrinter().Print(&changed, file)
	return changed.String(), err
}

// room reports what a shell has too much of, when it is about to run a command.
func (s *session) room(hc *interp.HandlerContext, args []string) error {
	if runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
		return errors.New("too many calls inside one another")
	}
	if runtime.NumGoroutine() > maxGoroutines && s.goroutines() > maxGoroutines {
		return errors.New("can't fork: resource temporarily unavailable")
	}
	if args[0] == "printf" && prints(args[1:]) {
		return errors.New("out of memory: too much to print")
	}
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	if text, is := hc.Stdout.(interface{ Len() int }); size > maxVariables || is && text.Len()+size > maxVariables {
		return errors.New("out of memory: too long arguments or output")
	}
	size = 0
	hc.Env.Each(func(name string, v expand.Variable) bool {
		size += len(name) + len(v.Str)
		for _, element := range v.List {
			size += len(element) + 16
		}
		for key, element := range v.Map {
			size += len(key) + len(element) + 32
		}
		return size <= maxVariables
	})
	if size > maxVariables {
		return fmt.Errorf("out of memory: variables have more than %d bytes", maxVariables)
	}
	return nil
}

// shellLabel is the label of the goroutines of a container's shells.
const shellLabel = "skewrig.container"

// labeled runs a shell in goroutines that have the label of its container.
func (s *session) labeled(ctx context.Context, shell func(context.Context) int) (code int) {
	pprof.Do(ctx, pprof.Labels(shellLabel, s.container()), func(ctx context.Context) { code = shell(ctx) })
	return code
}

// container identifies the container in this process.
func (s *session) container() string { return fmt.Sprintf("%s %s", s.files.Container, s.files.IP) }

// census is how many goroutines the shells of a container had a moment ago.
type census struct {
	mu sync.Mutex
	at time.Time
	n  int
}

// counted is how long a count is good for: counting stops all goroutines of the process, thousands of which may ask at once.
const counted = 100 * time.Millisecond

// goroutines is how many goroutines the shells of the container have.
func (s *session) goroutines() int {
	s.census.mu.Lock()
	defer s.census.mu.Unlock()
	if s.census.at.IsZero() || time.Since(s.census.at) > counted {
		s.census.n, s.census.at = s.countGoroutines(), time.Now()
	}
	return s.census.n
}

func (s *session) countGoroutines() (n int) {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return maxGoroutines + 1
	}
	same := 0 // goroutines of the record that a line is of
	for line := range strings.Lines(profile.String()) {
		if count, _, is := strings.Cut(line, " @ "); is {
			same, _ = strconv.Atoi(count)
		} else if strings.HasPrefix(line, "# labels: ") && strings.Contains(line, strconv.Quote(s.container())) {
			n += same
		}
	}
	return n
}

var wide = regexp.MustCompile(`%[-+ #0']*([0-9]{4}|[*])`)

// prints reports whether printf would print too much: it uses its format again and again, until there are no
// arguments left.
func prints(args []string) bool {
	longest := 0
	for _, arg := range args[:min(len(args), 3)] { // of which one is the format
		longest = max(longest, len(arg))
		if wide.MatchString(arg) {
			return true
		}
	}
	return longest*len(args) > maxText
}

// captured is where a shell collects the output of a command.
type captured interface {
	io.Writer
	Len() int
}

// bound bounds what a command adds to its output, if a shell collects it.
func bound(out io.Writer) io.Writer {
	if collects, is := out.(captured); is {
		return boundedOutput{collects}
	}
	return out
}

type boundedOutput struct{ captured }

func (b boundedOutput) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxVariables {
		return 0, fmt.Errorf("more than %d bytes", maxVariables)
	}
	return b.captured.Write(p)
}
