package manifest

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// jsonItemLines returns the lines in which the items of a List begin, counted from 1 in its text.
func jsonItemLines(text []byte) (lines []int) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil { // {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil
		}
		if key != "items" {
			var skipped json.RawMessage
			if decoder.Decode(&skipped) != nil {
				return nil
			}
			continue
		}
		if _, err := decoder.Token(); err != nil { // [
			return nil
		}
		return jsonElementLines(text, decoder)
	}
	return nil
}

func jsonElementLines(text []byte, decoder *json.Decoder) (lines []int) {
	line, counted := 1, 0
	for decoder.More() {
		at := int(decoder.InputOffset())
		for at < len(text) && isBlank(text[at]) {
			at++
		}
		line += bytes.Count(text[counted:at], []byte("\n"))
		counted = at
		lines = append(lines, line)
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			return nil
		}
	}
	return lines
}

// yamlItemLines returns the lines in which the n items of a List begin, counted from 1 in its text.
func yamlItemLines(text []byte, n int) []int {
	if lines := dashes(text); len(lines) == n {
		return lines
	}
	lines, _ := parsedItemLines(text)
	return lines
}

// dashes returns the lines below "items:" that begin with a dash and are indented as the first of them is: the items of a
// List as kubectl prints it, found without a parser. It may return more lines than there are items, but not fewer.
func dashes(text []byte) (lines []int) {
	indent, number, inside := -1, 0, false
	for line := range bytes.Lines(text) {
		number++
		if !inside {
			inside = bytes.HasPrefix(line, []byte("items:"))
			continue
		}
		rest := bytes.TrimLeft(line, " ")
		if len(rest) < 2 || rest[0] != '-' || !isBlank(rest[1]) {
			continue
		}
		if indent < 0 {
			indent = len(line) - len(rest)
		}
		if len(line)-len(rest) == indent {
			lines = append(lines, number)
		}
	}
	return lines
}

// parsedItemLines is yamlItemLines by a parser. The YAML library may panic on a malformed text.
func parsedItemLines(text []byte) (lines []int, found bool) {
	defer func() {
		if recover() != nil {
			lines, found = nil, false
		}
	}()
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return nil, false
	}
	list := document.Content[0]
	for i := 0; i+1 < len(list.Content); i += 2 {
		if list.Content[i].Value != "items" {
			continue
		}
		for _, item := range list.Content[i+1].Content {
			lines = append(lines, item.Line)
		}
		return lines, true
	}
	return nil, false
}
