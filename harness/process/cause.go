package process

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cause returns what a program said of why it ended, from what it logged: the line with
// which it gave up, rather than what it logged on its way out. It knows the formats of
// klog, of zap (as JSON and as text), of Go's panics, and of command lines that are wrong.
// It is empty if nothing was logged, and cut if it is long.
func Cause(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	best := said{text: strings.TrimSpace(lines[len(lines)-1])}
	for i, line := range lines {
		s := read(line, lines[i+1:])
		if s.weight > best.weight || s.weight == best.weight && nothing < s.weight && s.weight < givingUp {
			best = s
		}
	}
	return cut(best.text)
}

// maxCause bounds a cause, in bytes: it is part of errors, reports and pages.
const maxCause = 2048

// cut is the beginning of a text that is too long, up to a whole character.
func cut(text string) string {
	if len(text) <= maxCause {
		return text
	}
	end := maxCause
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// said is what a line says, if it may be why a program ended.
type said struct {
	weight weight
	text   string
}

// weight is how likely a line says why a program ended. Of several, the first one with
// which it gave up counts, or else the last error, or else the last warning.
type weight int

const (
	nothing weight = iota
	aWarning
	anError
	givingUp
)

var (
	// klogLine is a line of klog: severity, file and line, message.
	klogLine = regexp.MustCompile(`^([IWEF])\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ \S+\] (.*)$`)
	// zapLine is a line of zap as text: time, level, where it is from, message.
	zapLine = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\S+\t(\w+)\t(.*)$`)
	// giveUpLine is what is no log: a panic, or what a program says of its command line,
	// after its own name, if it gives it.
	giveUpLine = regexp.MustCompile(`^(?:panic: |fatal error: |SIG[A-Z]+: |(?:[Ee]rror|kube[a-z-]*|etcd|dependency-watchdog): |flag provided but not defined: |unknown (?:shorthand )?flag)`)
	// anyWord is how other programs may begin what they say, and lines of YAML too.
	anyWord = regexp.MustCompile(`^[a-z][a-z0-9-]*: `)
	// quoted is a text in quotes at the beginning of a structured message.
	quoted = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"`)
	// errorValue is the value of the error in a structured message.
	errorValue = regexp.MustCompile(` err=("(?:[^"\\]|\\.)*"|<$)`)
	// onTheWayOut is what programs log because they end.
	onTheWayOut = regexp.MustCompile(`(?i)context canceled|use of closed network connection|server closed|shutting down|shutdown`)
)

// read returns what a line says, and those after it that belong to it.
func read(line string, after []string) said {
	if f := klogLine.FindStringSubmatch(line); f != nil {
		return weigh(f[1], structured(f[2], after))
	}
	if f := zapLine.FindStringSubmatch(line); f != nil {
		return weigh(f[1], fromZap(f[2]))
	}
	if s, is := fromJSON(line); is {
		return s
	}
	if giveUpLine.MatchString(line) {
		text := strings.TrimPrefix(strings.TrimSuffix(line, " [recovered]"), "panic: ")
		return said{givingUp, strings.TrimSpace(text)}
	}
	if anyWord.MatchString(line) {
		return said{aWarning, strings.TrimSpace(line)}
	}
	return said{}
}

// failed is what the commands of Kubernetes say before the error with which they end.
const failed = "command failed"

// weigh returns what is said at a level.
func weigh(level, text string) said {
	weights := map[string]weight{"warn": aWarning, "w": aWarning, "error": anError, "e": anError, "f": givingUp, "fatal": givingUp, "panic": givingUp, "dpanic": givingUp}
	w := weights[strings.ToLower(level)]
	if cause, is := strings.CutPrefix(text, failed+": "); is {
		return said{givingUp, cause}
	}
	if w < givingUp && onTheWayOut.MatchString(text) {
		w = nothing
	}
	return said{w, text}
}

// maxLines bounds the lines of an error that has several: each of many errors may have
// no end.
const maxLines = 20

// structured renders a message of klog as a sentence: the message, and the error.
func structured(message string, after []string) string {
	begin := quoted.FindString(message)
	text, err := strconv.Unquote(begin)
	if err != nil {
		return message
	}
	value := errorValue.FindStringSubmatch(message[len(begin):])
	if value == nil {
		return text
	}
	cause, err := strconv.Unquote(value[1])
	if err != nil { // err=<, and then lines up to >
		var lines []string
		for _, line := range after[:min(len(after), maxLines)] {
			if line == " >" {
				break
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		cause = strings.Join(lines, " ")
	}
	return text + ": " + cause
}

// fromZap renders a message of zap: after the name of the logger, if it has one, with the
// error among its fields.
func fromZap(message string) string {
	parts := strings.Split(message, "\t")
	var fields struct{ Error string }
	if last := len(parts) - 1; last > 0 && json.Unmarshal([]byte(parts[last]), &fields) == nil {
		parts = parts[:last]
	}
	return joined(parts[len(parts)-1], fields.Error)
}

// fromJSON reads a line of JSON. Loggers of Kubernetes write errors without a level.
func fromJSON(line string) (said, bool) {
	var l struct{ Level, Msg, Err, Error string }
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &l) != nil {
		return said{}, false
	}
	if l.Level == "" && l.Err != "" {
		l.Level = "error"
	}
	return weigh(l.Level, joined(l.Msg, l.Err+l.Error)), true
}

func joined(message, cause string) string {
	if cause == "" {
		return message
	}
	return message + ": " + cause
}
