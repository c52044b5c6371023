package reports

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leadingName is a word at the beginning of a sentence that stays as it is, such as that of a function.
var leadingName = regexp.MustCompile(`^\S*[^a-z,\s]`)

// Sentence returns a text in the form of a sentence. A name at its beginning stays as it is.
func Sentence(text string) string {
	text = strings.TrimSuffix(text, ".")
	if text == "" {
		return ""
	}
	if !leadingName.MatchString(text) {
		text = Capitalize(text)
	}
	return text + "."
}

// Capitalize returns a text with a capital at its beginning.
func Capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
