package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/strict"
)

// maxSpan bounds how long a check may watch and a step may wait.
const maxSpan = 24 * time.Hour

var errTooLong = fmt.Errorf("longer than %s", maxSpan)

// Length returns how long a span is. One in probe periods is as long as that
// many of the shortest period that the scenario's manifests give the container.
func (s *Scenario) Length(span Span) (time.Duration, error) {
	length, periods, err := span.parse()
	if err != nil || periods == 0 {
		return length, err
	}
	period, err := s.probePeriod(span.Of)
	if err != nil {
		return 0, err
	}
	if period > maxSpan/time.Duration(periods) {
		return 0, errTooLong
	}
	return time.Duration(periods) * period, nil
}

// parse returns what For says: a duration, or a count of periods.
func (s Span) parse() (length time.Duration, periods int, err error) {
	if number, unit, found := strings.Cut(s.For, " "); found && (unit == "periods" || unit == "period") {
		periods, err := strconv.Atoi(number)
		if err != nil || periods <= 0 {
			return 0, 0, fmt.Errorf("%s is not a count of periods: write it like 5 periods", strict.Quote(s.For))
		}
		return 0, periods, nil
	}
	length, err = time.ParseDuration(s.For)
	if err != nil {
		return 0, 0, fmt.Errorf("%s is neither a duration, like 10s, nor a count of probe periods, like 5 periods", strict.Quote(s.For))
	}
	return length, 0, checkLength(length)
}

func checkLength(length time.Duration) error {
	switch {
	case length < 0:
		return fmt.Errorf("%s is negative", length)
	case length == 0:
		return errors.New("it must be longer than zero")
	case length > maxSpan:
		return errTooLong
	default:
		return nil
	}
}

func (s *Scenario) probePeriod(container string) (time.Duration, error) {
	key := container
	if strings.Count(container, "/") == 1 {
		key = "default/" + container
	}
	if strings.Count(key, "/") != 2 {
		return 0, fmt.Errorf("%s does not name a container: write pod/container or namespace/pod/container", strict.Quote(container))
	}
	var objects []map[string]any
	for _, step := range s.Steps {
		if creator, is := step.Action.(Creator); is {
			objects = append(objects, creator.Manifests()...)
		}
	}
	periods := probePeriods(objects)
	seconds, known := periods[key]
	switch {
	case !known:
		names := slices.Sorted(maps.Keys(periods))
		for i, name := range names {
			names[i] = strings.TrimPrefix(name, "default/")
		}
		return 0, fmt.Errorf("no manifest of the scenario has a container %s: %s", strict.Quote(container), strict.DidYouMean(container, names))
	case seconds == 0:
		return 0, fmt.Errorf("container %s has no probe, so there are no periods to count", strict.Quote(container))
	case seconds > int64(maxSpan/time.Second):
		return 0, errTooLong
	default:
		return time.Duration(seconds) * time.Second, nil
	}
}
