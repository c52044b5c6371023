package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// maxText is the largest script, in bytes.
const maxText = 1 << 20

// Script is a script that could be read.
type Script struct {
	name string // of the file
	file file
}

// Parse reads the text of a script. The file's name is for messages only. What can't
// be read is reported at once, as *spec.Errors.
func Parse(name string, text []byte) (*Script, error) {
	s := &Script{name: name}
	if len(text) > maxText {
		return nil, s.wrong(s.problem(1, "the file is longer than %d bytes", maxText))
	}
	lines, err := s.decode(text)
	if err != nil {
		return nil, s.wrong(s.misread(err)...)
	}
	for i := range s.file.Steps {
		s.file.Steps[i].line = lines[i]
	}
	var problems []spec.Problem
	if s.file.APIVersion != APIVersion || s.file.Kind != Kind {
		problems = append(problems, s.problem(1, "this is no script: it begins with apiVersion: %s and kind: %s", APIVersion, Kind))
	}
	for _, step := range s.file.Steps {
		if n := step.actions(); n != 1 {
			problems = append(problems, s.problem(step.line, "a step has one action, and this one has %d: ready, add, change, remove, churn, disturb, restart or wait", n))
		}
	}
	if len(s.file.Steps) == 0 {
		problems = append(problems, s.problem(1, "there are no steps"))
	}
	if len(problems) > 0 {
		return nil, s.wrong(problems...)
	}
	return s, nil
}

// decode fills the file, and returns in which lines its steps begin. The YAML library
// panics on some malformed texts; that is a mistake in the text like any other.
func (s *Script) decode(text []byte) (lines []int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&s.file); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	if strict.Decode(new(yaml.Node)) == nil {
		return nil, errors.New("a script is one document, and here is another one")
	}
	var places struct{ Steps []yaml.Node }
	if err := yaml.Unmarshal(text, &places); err != nil {
		return nil, err
	}
	for _, n := range places.Steps {
		lines = append(lines, n.Line)
	}
	return lines, nil
}

var (
	inLine       = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	unknownField = regexp.MustCompile(`^field (\S+) not found in type script\.(\S+)$`)
)

// misread turns errors of the YAML library into problems: it says the line in its
// text.
func (s *Script) misread(err error) (problems []spec.Problem) {
	texts := []string{err.Error()}
	if several, ok := errors.AsType[*yaml.TypeError](err); ok {
		texts = several.Errors
	}
	for _, text := range texts {
		parts := inLine.FindStringSubmatch(text)
		line, _ := strconv.Atoi(parts[1])
		message := unknownField.ReplaceAllString(parts[2], "unknown field $1 in $2")
		if strings.HasPrefix(text, "yaml: ") {
			message = "this is not YAML: " + message
		}
		problems = append(problems, s.problem(max(line, 1), "%s", strings.ReplaceAll(message, "script.", "")))
	}
	return problems
}

func (s *Script) problem(line int, format string, args ...any) spec.Problem {
	return spec.Problem{File: s.name, Line: line, Column: 1, Message: fmt.Sprintf(format, args...)}
}

func (s *Script) wrong(problems ...spec.Problem) error { return &spec.Errors{Problems: problems} }
