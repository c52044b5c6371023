// Package show writes a sweep for readers: as a page, as a JUnit file for continuous integration, as drafts of issues, and
// as the changes from one sweep to another. What it writes is all in sweep.json.
package show
