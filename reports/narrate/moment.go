package narrate

import (
	"fmt"
	"regexp"
	"strconv"
)

// moment is a time in a sentence. How exactly it is shown depends on the other times there:
// see timed.
func moment(at float64) string { return fmt.Sprintf("\x00%.3f\x00 s", at) }

var moments = regexp.MustCompile("\x00(\\d+\\.\\d{3})\x00")

// tenths is a time with one decimal.
func tenths(at string) string {
	seconds, _ := strconv.ParseFloat(at, 64) // it is a number
	return fmt.Sprintf("%.1f", seconds)
}

// timed writes the moments in texts that are shown together: with one decimal, but those that
// would read the same with milliseconds.
func timed(texts []string) (written []string) {
	exact := make(map[string]map[string]bool) // by what they are with one decimal
	for _, text := range texts {
		for _, found := range moments.FindAllStringSubmatch(text, -1) {
			brief := tenths(found[1])
			if exact[brief] == nil {
				exact[brief] = make(map[string]bool)
			}
			exact[brief][found[1]] = true
		}
	}
	for _, text := range texts {
		written = append(written, moments.ReplaceAllStringFunc(text, func(found string) string {
			at := moments.FindStringSubmatch(found)[1]
			if brief := tenths(at); len(exact[brief]) == 1 {
				return brief
			}
			return at
		}))
	}
	return written
}

// lasted is how long something took: with milliseconds where one decimal says nothing.
func lasted(seconds float64) string {
	if seconds < 0.1 {
		return fmt.Sprintf("%.3f s", seconds)
	}
	return fmt.Sprintf("%.1f s", seconds)
}
