// Package app is what the command skewrig and the suites share: it finds
// scenarios, builds what they need, runs and judges their cells, and reads and
// writes reports. It prints nothing and reads no flags.
package app

// Failure is an error that is not the user's: something that was asked for
// rightly could not be done. Every other error is about what was asked for.
type Failure struct{ err error }

// Error returns the text of the error.
func (f *Failure) Error() string { return f.err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.err }

// Failed marks an error as not the user's. It is nil if the error is.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	return &Failure{err}
}
