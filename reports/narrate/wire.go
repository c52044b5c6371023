package narrate

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// wire is what went over the wire, line by line. What of a line differs from one
// attempt to the next that does the same is not in what.
type wire struct {
	lines []Line
	same  strings.Builder // what two attempts have in common that went the same way
	own   []Line          // those that have something else in them, too
	exact func(time.Time) float64
}

// decoded is the wire log of a connection, as far as the record has it.
func decoded(c record.Connection, exact func(time.Time) float64) *wire {
	w := &wire{exact: exact}
	w.add(c.Opened, "connected", fmt.Sprintf("%s to %s, which speaks %s", c.Remote, c.Local, c.Protocol), "", string(c.Protocol))
	w.first(c)
	w.handshake(c)
	unended := reports.Attempt{Connection: c}.Unended()
	for i, r := range c.Requests {
		w.request(r, unended && i == len(c.Requests)-1)
	}
	if c.DroppedRequests > 0 {
		w.says("requests", fmt.Sprintf("%d more, which the record does not have", c.DroppedRequests), "")
	}
	if c.Fault != "" {
		w.says("fault", string(c.Fault)+", as the server was set to", Faulty)
	}
	tone := Tone("")
	if !c.Answered() || unended {
		tone = Bad
	}
	closed := closers[c.CloseReason]
	same := closed
	if c.Answered() && !unended {
		same = "" // who is first is chance
	}
	w.add(c.Closed, "closed", fmt.Sprintf("%s; %s came in, %d went out", closed, reports.Counted(int(c.BytesIn), "byte"), c.BytesOut), tone, same)
	return w
}

var closers = map[record.CloseReason]string{
	record.ClientClosed: "by the client", record.ClientReset: "reset by the client", record.ServerClosed: "by the server",
	record.ByFault: "by the fault", record.Shutdown: "the server's process ended",
}

// add adds a line. If the time is not known, it is zero.
func (w *wire) add(at time.Time, what, text string, tone Tone, same string) {
	l := Line{What: what, Text: text, Tone: tone}
	if !at.IsZero() {
		l.At = w.exact(at)
	}
	w.lines = append(w.lines, l)
	if text != same {
		w.own = append(w.own, l)
	}
	fmt.Fprintf(&w.same, "%s\x00%s\x00%s\x00", what, same, tone)
}

// says adds a line that has no time, and is the same whenever the same happens.
func (w *wire) says(what, text string, tone Tone) { w.add(time.Time{}, what, text, tone, text) }

// protocolNames are the beginnings of a connection, as people call them.
var protocolNames = map[record.First]string{
	record.FirstTLS: "TLS ClientHello", record.FirstHTTP2: "HTTP/2 preface", record.FirstHTTP1: "HTTP/1.1 request",
	record.FirstNothing: "nothing", record.FirstOther: "bytes of no known protocol",
}

// first adds what the client sent first.
func (w *wire) first(c record.Connection) {
	sent, _ := hex.DecodeString(c.FirstHex)
	switch c.First {
	case record.FirstTLS:
		w.says(protocolNames[c.First], hello(c.ClientHello, sent), "")
	case record.FirstHTTP2:
		w.says(protocolNames[c.First], "in plaintext", "")
		w.frames(bytes.TrimPrefix(sent, []byte(http2.ClientPreface)))
	case record.FirstNothing:
		w.says("sent", "nothing", "")
	case record.FirstOther:
		w.says("sent", fmt.Sprintf("%q", sent), Bad)
	default:
		if len(c.Requests) == 0 { // one that was refused is not among them
			line, _, _ := bytes.Cut(sent, []byte("\r\n"))
			w.says("HTTP request", strconv.QuoteToGraphic(string(line)), "")
		}
	}
}

func hello(h *record.ClientHello, sent []byte) string {
	if h == nil {
		return "which is not complete"
	}
	parts := []string{"offers TLS " + strings.Join(h.Versions, ", ")}
	if len(h.ALPN) > 0 {
		parts = append(parts, "ALPN "+strings.Join(h.ALPN, ", "))
	} else {
		parts = append(parts, "no ALPN")
	}
	if h.ServerName != "" {
		parts = append(parts, "server name "+h.ServerName)
	} else {
		parts = append(parts, "no server name")
	}
	parts = append(parts, reports.Counted(h.CipherSuites, "cipher suite"))
	if len(sent) > 5 {
		parts = append(parts, fmt.Sprintf("record version %d.%d of %s", sent[1], sent[2], reports.Counted(int(sent[3])<<8|int(sent[4]), "byte")))
	}
	return strings.Join(parts, "; ")
}

// frames adds the frames of HTTP/2 after the preface, as far as the record has
// them.
func (w *wire) frames(sent []byte) {
	in := bytes.NewReader(sent)
	for in.Len() > 0 {
		h, err := http2.ReadFrameHeader(in)
		if err != nil {
			w.says("HTTP/2 frame", "another one, whose head the record does not have", "")
			return
		}
		payload := make([]byte, h.Length)
		n, err := io.ReadFull(in, payload)
		text := fmt.Sprintf("%s, stream %d, %s", h.Type, h.StreamID, reports.Counted(int(h.Length), "byte"))
		switch {
		case h.Type == http2.FrameSettings && h.Flags.Has(http2.FlagSettingsAck):
			text = "SETTINGS, acknowledged"
		case h.Type == http2.FrameSettings:
			text = "SETTINGS" + settings(payload[:n])
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || err != nil && h.Length > 0 {
			text += ", of which the record has " + strconv.Itoa(n)
		}
		w.says("HTTP/2 frame", text, "")
	}
}

// settings are the values in a SETTINGS frame (RFC 9113 section 6.5.1).
func settings(payload []byte) (text string) {
	for ; len(payload) >= 6; payload = payload[6:] {
		id := http2.SettingID(payload[0])<<8 | http2.SettingID(payload[1])
		value := uint32(payload[2])<<24 | uint32(payload[3])<<16 | uint32(payload[4])<<8 | uint32(payload[5])
		text += fmt.Sprintf(" %s=%d", id, value)
	}
	return text
}

// handshake adds how TLS went, and what came inside.
func (w *wire) handshake(c record.Connection) {
	h := c.Handshake
	switch {
	case h == nil:
	case h.Error != "":
		what := "TLS handshake"
		if strings.Contains(h.Error, "remote error") {
			what = "TLS alert" // of the client
		}
		w.says(what, h.Error, Bad)
	default:
		text := "TLS " + h.Version
		if h.ALPN != "" {
			text += ", ALPN " + h.ALPN
		}
		if h.ClientCertificate != "" {
			text += ", certificate of the client " + h.ClientCertificate
		}
		w.says("TLS handshake", text, Good)
	}
	if c.HTTP2Preface && c.First != record.FirstHTTP2 {
		w.says(protocolNames[record.FirstHTTP2], "inside TLS", "")
	}
}

// request adds a request and its answer.
func (w *wire) request(r record.Request, unended bool) {
	what, asked := "HTTP request", fmt.Sprintf("%s %s %s", r.Method, r.Path, r.Proto)
	if r.Service != nil {
		what = "gRPC call"
		asked += fmt.Sprintf(", service %q", *r.Service)
	}
	w.add(r.Started, what, asked, "", asked)
	head := []string{"host " + r.Host, "user agent " + r.UserAgent}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		head = append(head, name+": "+strings.Join(r.Headers[name], ", "))
	}
	w.says("headers", shortened(strings.Join(head, "; "), maxText), "")
	result, tone := answer(r, unended)
	w.add(r.Started.Add(time.Duration(r.Duration)), "answer", result, tone, result)
}

// answer is what was answered to a request. If it never ended, it is not a good one,
// whatever its headers say.
func answer(r record.Request, unended bool) (string, Tone) {
	switch {
	case unended:
		return fmt.Sprintf("HTTP %d, and its body never ended", r.Status), Bad
	case r.GRPCStatus != "" && r.Health != "":
		return fmt.Sprintf("gRPC %s, %s", r.GRPCStatus, r.Health), graded(r.Health == "SERVING")
	case r.GRPCStatus != "":
		return "gRPC " + r.GRPCStatus, Bad
	case r.Status != 0 && r.OfGRPC():
		return fmt.Sprintf("HTTP %d, and no answer of gRPC", r.Status), Bad
	case r.Status != 0:
		return fmt.Sprintf("HTTP %d, %s", r.Status, reports.Counted(int(r.BodyBytes), "byte")), graded(r.Status >= 200 && r.Status < 400)
	default:
		return "none", Bad
	}
}

func graded(good bool) Tone {
	if good {
		return Good
	}
	return Bad
}
