package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	"github.com/skewrig/skewrig/harness/strict"
)

// fault is why a document could not be decoded, with the line in its text, from 1. A line of 0 is not known.
type fault struct {
	line int
	why  string
}

// maxDepth is how deep an object may be nested. The schema in a CustomResourceDefinition gets to about 40.
const maxDepth = 200

// decodeYAML decodes a document as kubectl does: by YAML 1.1, to what its JSON would be decoded to. A key that is set twice
// is a fault, which kubectl warns of.
func decodeYAML(text []byte) (value any, faults []fault) {
	var raw any
	if faults := unmarshalYAML(text, &raw); faults != nil {
		return nil, faults
	}
	c := converter{left: 1<<20 + 4*len(text)}
	value, err := c.value(raw, 0)
	if err != nil {
		return nil, []fault{{why: err.Error()}}
	}
	return value, nil
}

// unmarshalYAML decodes without a conversion. The YAML library may panic on a malformed text.
func unmarshalYAML(text []byte, raw *any) (faults []fault) {
	defer func() {
		if r := recover(); r != nil {
			faults = []fault{{why: fmt.Sprintf("this is not YAML: malformed: %v", r)}}
		}
	}()
	if !bytes.Contains(text, []byte("<<")) {
		return faultsOf(yamlv2.UnmarshalStrict(text, raw))
	}
	// The strict decoder takes a key that overrides a merged one for a duplicate.
	if err := yamlv2.Unmarshal(text, raw); err != nil {
		return faultsOf(err)
	}
	var again any
	if err := yaml.Unmarshal(text, &again); err != nil && strings.Contains(err.Error(), "already defined") {
		return faultsOf(err)
	}
	return nil
}

var (
	inLine = regexp.MustCompile(`(?s)^\s*(?:yaml: )?(?:line (\d+): )?(.*)$`)
	// twice are the errors of the libraries for a key that is set twice.
	twice = regexp.MustCompile(`^(?:mapping key (.+) already defined at line \d+|key (.+) already set in map|duplicate field (.+))$`)
)

// reworded is an error of a library with a prefix, or in the words for a key that is set twice.
func reworded(prefix, text string) string {
	if key := twice.FindStringSubmatch(text); key != nil {
		name := key[1] + key[2] + key[3]
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		return fmt.Sprintf("the key %s is set twice", strict.Quote(name))
	}
	return prefix + printable(text)
}

// printable is a text for a message: bounded, and without what a terminal obeys.
func printable(text string) string {
	return strings.ReplaceAll(strict.InQuotes(text), `\"`, `"`)
}

// faultsOf returns the faults of an error of the YAML libraries.
func faultsOf(err error) (faults []fault) {
	if err == nil {
		return nil
	}
	texts := []string{err.Error()}
	if many, is := errors.AsType[*yamlv2.TypeError](err); is {
		texts = many.Errors
	} else if many, is := errors.AsType[*yaml.TypeError](err); is {
		texts = many.Errors
	}
	for _, text := range texts {
		parts := inLine.FindStringSubmatch(text)
		line, convErr := strconv.Atoi(parts[1])
		if convErr != nil {
			line = 0
		}
		faults = append(faults, fault{line: line, why: reworded("this is not YAML: ", parts[2])})
	}
	return faults
}

// converter makes of YAML values what a decoder of Kubernetes makes of their JSON.
type converter struct {
	// left is how many more characters and values may follow, since aliases repeat what they stand for.
	left int
}

var errExpanded = errors.New("too large: its aliases stand for too much")

func (c *converter) value(raw any, depth int) (any, error) {
	if c.left--; c.left < 0 {
		return nil, errExpanded
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	switch raw := raw.(type) {
	case nil, bool:
		return raw, nil
	case string:
		c.left -= len(raw)
		return valid(raw), nil
	case int:
		return int64(raw), nil
	case int64:
		return raw, nil
	case uint64:
		return float64(raw), nil
	case float64:
		return number(raw)
	case time.Time:
		return raw.Format(time.RFC3339Nano), nil
	case []any:
		return c.list(raw, depth)
	case map[any]any:
		return c.object(raw, depth)
	}
	return nil, fmt.Errorf("unsupported value of type %T", raw)
}

func (c *converter) list(raw []any, depth int) (any, error) {
	list := make([]any, len(raw))
	for i, item := range raw {
		value, err := c.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		list[i] = value
	}
	return list, nil
}

func (c *converter) object(raw map[any]any, depth int) (any, error) {
	object := make(map[string]any, len(raw))
	for k, v := range raw {
		key, err := nameOf(k)
		if err != nil {
			return nil, err
		}
		if _, is := object[key]; is {
			return nil, fmt.Errorf("the key %s is set twice", strict.Quote(key))
		}
		c.left -= len(key)
		if object[key], err = c.value(v, depth+1); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// valid is a text as JSON has it. Only a !!binary value is no UTF-8.
func valid(text string) string { return string([]rune(text)) }

// number is a number as JSON has it, which does not distinguish 1.0 from 1.
func number(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("unsupported value %v: JSON has no such number", f)
	}
	const two63 = 1 << 63
	if f == math.Trunc(f) && math.Abs(f) < 1e21 && f >= -two63 && f < two63 {
		n, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64)
		if err == nil {
			return n, nil
		}
	}
	return f, nil
}

// nameOf is a key as sigs.k8s.io/yaml writes it to JSON.
func nameOf(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return valid(key), nil
	case int:
		return strconv.Itoa(key), nil
	case int64:
		return strconv.FormatInt(key, 10), nil
	case bool:
		return strconv.FormatBool(key), nil
	case float64:
		text := strconv.FormatFloat(key, 'g', -1, 32)
		switch text {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		}
		return text, nil
	case nil:
		return "", errors.New("unsupported key: null")
	}
	return "", fmt.Errorf("unsupported key of type %T", key)
}

// decodeJSON decodes one JSON value as the API machinery does.
func decodeJSON(text []byte) (value any, faults []fault) {
	duplicates, err := kjson.UnmarshalStrict(text, &value, kjson.DisallowDuplicateFields)
	if err != nil {
		return nil, []fault{jsonFault(text, err)}
	}
	for _, d := range duplicates {
		faults = append(faults, fault{why: reworded("", d.Error())})
	}
	if faults == nil && tooDeep(value, 0) {
		return nil, []fault{{why: fmt.Sprintf("nested more than %d levels deep", maxDepth)}}
	}
	return value, faults
}

func jsonFault(text []byte, err error) fault {
	f := fault{why: "this is not JSON: " + printable(err.Error())}
	if is, offset := kjson.SyntaxErrorOffset(err); is {
		f.line = lineAt(text, int(offset)-1)
	} else if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		f.line = lineAt(text, int(syntax.Offset)-1)
	}
	return f
}

func tooDeep(value any, depth int) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			if tooDeep(v, depth+1) {
				return true
			}
		}
	case []any:
		for _, v := range value {
			if tooDeep(v, depth+1) {
				return true
			}
		}
	}
	return depth > maxDepth
}

// lineAt is the line of a place in a text, from 1.
func lineAt(text []byte, at int) int {
	return 1 + bytes.Count(text[:max(0, min(at, len(text)))], []byte("\n"))
}

// isBlank reports whether only white space and commas are left before a value of JSON.
func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' || b == ',' }

// values calls a function with each JSON value of a text and the place where it begins, as long as it returns true. It
// returns where a value begins that is no JSON, with the error.
func values(text []byte, call func(value []byte, at int) bool) (at int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		at = int(decoder.InputOffset())
		for at < len(text) && isBlank(text[at]) {
			at++
		}
		if at == len(text) {
			return at, nil
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return at, err
		}
		if !call(value, at) {
			return at, nil
		}
	}
}
