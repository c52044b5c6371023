package behavior

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a span of time that is written as Go writes it: "10s", "1m30s",
// "250ms".
type Duration time.Duration

// String returns the duration as it is written.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads a string with a number and a unit. A bare number is an
// error, since its unit would be a guess.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf(`a duration is a string such as "10s", not %s`, data)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf(`a duration is a number and a unit, such as "10s" or "1m30s", not %q`, text)
	}
	*d = Duration(parsed)
	return nil
}
