package behavior

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Problem is something wrong with a listener.
type Problem struct {
	// Field is the path of the field, such as "phases[1].http.status".
	Field string
	// Message says what is wrong and what would be right.
	Message string
}

// Error returns the field and the message.
func (p Problem) Error() string { return p.Field + ": " + p.Message }

// Validate returns everything that is wrong with the listener, in the order of
// its fields. It returns nothing for a listener that can be played.
func (l Listener) Validate() []Problem {
	var c checker
	if l.Port < 1 || l.Port > 65535 {
		c.add("port", "%d is not a TCP port, 1 to 65535", l.Port)
	}
	oneOf(&c, "protocol", l.Protocol, Protocols())
	known := slices.Contains(Protocols(), l.Protocol)
	if l.TLS != nil {
		c.tls(l, known)
	}
	c.timeline("phases", l.Phases, scope{protocol: l.Protocol, known: known})
	if len(l.Routes) > 0 && known && !l.Protocol.HTTP() {
		c.add("routes", "protocol %s has no paths", l.Protocol)
	}
	seen := map[string]bool{}
	for i, route := range l.Routes {
		field := fmt.Sprintf("routes[%d]", i)
		if !strings.HasPrefix(route.Path, "/") || strings.ContainsAny(route.Path, "?#") {
			c.add(field+".path", "%q is not a path, which begins with / and has no query", route.Path)
		}
		if seen[route.Path] {
			c.add(field+".path", "%q has a route already", route.Path)
		}
		seen[route.Path] = true
		c.timeline(field+".phases", route.Phases, scope{protocol: l.Protocol, known: known, route: true})
	}
	return c.problems
}

// scope says where a phase stands, which decides what it may hold.
type scope struct {
	protocol Protocol
	// known is unset for a protocol that doesn't exist: nothing is said about
	// what would go with it.
	known bool
	// route is set for the phases of a single path.
	route bool
	// only is set if the timeline has one phase.
	only bool
}

type checker struct{ problems []Problem }

func (c *checker) add(field, format string, args ...any) {
	c.problems = append(c.problems, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) tls(l Listener, known bool) {
	if known && !l.Protocol.TLS() {
		c.add("tls", "protocol %s is plaintext: use %s or %s, or leave tls out", l.Protocol, HTTPS, GRPCTLS)
	}
	if l.TLS.Certificate != "" {
		oneOf(c, "tls.certificate", l.TLS.Certificate, Certificates())
	}
	if l.TLS.MinVersion != "" {
		oneOf(c, "tls.minVersion", l.TLS.MinVersion, TLSVersions())
	}
	if l.TLS.MaxVersion != "" {
		oneOf(c, "tls.maxVersion", l.TLS.MaxVersion, TLSVersions())
	}
	if l.TLS.MinVersion == "1.3" && l.TLS.MaxVersion == "1.2" {
		c.add("tls.minVersion", "1.3 is above maxVersion, 1.2")
	}
	if l.TLS.Delay < 0 {
		c.add("tls.delay", "%s is negative", l.TLS.Delay)
	}
}

func (c *checker) timeline(field string, phases Timeline, in scope) {
	in.only = len(phases) == 1
	for i, phase := range phases {
		at := fmt.Sprintf("%s[%d]", field, i)
		last := i == len(phases)-1
		switch {
		case phase.For < 0:
			c.add(at+".for", "%s is negative", phase.For)
		case phase.Requests < 0:
			c.add(at+".requests", "%d is negative", phase.Requests)
		case phase.Requests > 0 && !in.route:
			c.add(at+".requests", "only the phases of a route count requests")
		case phase.Requests > 0 && phase.For > 0:
			c.add(at+".requests", "the phase lasts for %s already", phase.For)
		case phase.For == 0 && phase.Requests == 0 && !last:
			c.add(at+".for", "unset, so this phase never ends and the phases after it never begin")
		case phase.For > 0 && last:
			c.add(at+".for", "%s, but no phase follows: leave it unset, the last phase does not end", phase.For)
		case phase.Requests > 0 && last:
			c.add(at+".requests", "%d, but no phase follows: leave it unset, the last phase does not end", phase.Requests)
		}
		c.phase(at, phase, in)
	}
}

func (c *checker) phase(at string, phase Phase, in scope) {
	if phase.Delay < 0 {
		c.add(at+".delay", "%s is negative", phase.Delay)
	}
	if phase.HTTP != nil {
		c.belongs(at+".http", in, in.protocol.HTTP())
		c.http(at+".http", *phase.HTTP)
	}
	if phase.GRPC != nil {
		c.belongs(at+".grpc", in, in.protocol.GRPC())
		c.health(at+".grpc", *phase.GRPC)
	}
	if phase.TCP != nil {
		c.belongs(at+".tcp", in, in.protocol == TCP)
	}
	if phase.Fault != "" {
		oneOf(c, at+".fault", phase.Fault, Faults())
		c.fault(at+".fault", phase.Fault, in)
	}
}

func (c *checker) belongs(field string, in scope, fits bool) {
	if in.known && !fits {
		c.add(field, "a listener with protocol %s doesn't answer this way", in.protocol)
	}
}

func (c *checker) fault(field string, fault Fault, in scope) {
	if !slices.Contains(Faults(), fault) {
		return
	}
	if in.route && !fault.PerRequest() {
		c.add(field, "%s befalls a connection before its path is known: put it in the listener's own phases", fault)
	}
	if fault == StallConnect && !in.route && !in.only {
		c.add(field, "%s befalls a port for good: make it the only phase", fault)
	}
	if in.protocol == TCP && (fault == StallAfterHeaders || fault == WrongProtocol) {
		c.add(field, "protocol tcp has no headers and no answer to get wrong")
	}
}

func (c *checker) http(at string, answer HTTP) {
	if answer.Status != 0 && (answer.Status < 200 || answer.Status > 599) {
		c.add(at+".status", "%d is not the status of an answer, 200 to 599", answer.Status)
	}
	if answer.BodyBytes < 0 || answer.BodyBytes > MaxBodyBytes {
		c.add(at+".bodyBytes", "%d is not between 0 and %d", answer.BodyBytes, MaxBodyBytes)
	}
	if answer.Body != "" && answer.BodyBytes != 0 {
		c.add(at+".bodyBytes", "there is a body already")
	}
	for _, name := range slices.Sorted(maps.Keys(answer.Headers)) {
		if !httpguts.ValidHeaderFieldName(name) {
			c.add(at+".headers", "%q is not the name of a header", name)
		}
		if !isLine(answer.Headers[name]) {
			c.add(at+".headers", "the value of %s is more than one line", name)
		}
	}
	if !isLine(answer.Location) {
		c.add(at+".location", "is more than one line")
	}
	if answer.Location != "" && answer.Status != 0 && answer.Status/100 != 3 {
		c.add(at+".location", "status %d doesn't redirect, 3xx does", answer.Status)
	}
}

func (c *checker) health(at string, health Health) {
	for _, service := range slices.Sorted(maps.Keys(health.Services)) {
		oneOf(c, fmt.Sprintf("%s.services[%q]", at, service), health.Services[service], ServingStatuses())
	}
	if health.Code != "" {
		oneOf(c, at+".code", health.Code, Codes())
	}
	var ways []string
	for _, way := range []struct {
		name string
		set  bool
	}{{"services", len(health.Services) > 0}, {"unimplemented", health.Unimplemented}, {"code", health.Code != ""}} {
		if way.set {
			ways = append(ways, way.name)
		}
	}
	if len(ways) > 1 {
		c.add(at, "%s contradict each other: use one", strings.Join(ways, " and "))
	}
	if health.Message != "" && health.Code == "" {
		c.add(at+".message", "needs code, which is unset")
	}
}

func oneOf[T ~string](c *checker, field string, value T, valid []T) {
	if slices.Contains(valid, value) {
		return
	}
	names := make([]string, len(valid))
	for i, v := range valid {
		names[i] = string(v)
	}
	if value == "" {
		c.add(field, "unset: use %s", strings.Join(names, ", "))
		return
	}
	c.add(field, "%q is unknown: use %s", value, strings.Join(names, ", "))
}

func isLine(value string) bool { return !strings.ContainsAny(value, "\r\n\x00") }
