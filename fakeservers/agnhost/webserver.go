package agnhost

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"path"
	"time"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
)

// testWebserver serves the container's files.
func testWebserver(flags *pflag.FlagSet) runner {
	port := flags.Int32("port", 80, "Port number.")
	return func(ctx context.Context, p *process) int {
		return p.serveAndWait(ctx, server.Config{
			Listener: behavior.Listener{Port: *port, Protocol: behavior.HTTP1},
			Handler:  http.HandlerFunc(p.serveFile),
		})
	}
}

// serveFile answers with a file or the list of a directory.
func (p *process) serveFile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	name := path.Clean("/" + r.URL.Path)
	mode, err := p.Stat(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if mode.IsDir() {
		p.serveDirectory(w, r, name)
		return
	}
	data, err := p.ReadFile(name)
	if err != nil {
		http.Error(w, "500 Internal Server Error", http.StatusInternalServerError)
		return
	}
	// No modification time: the answer must never be 304.
	http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(data))
}

func (p *process) serveDirectory(w http.ResponseWriter, r *http.Request, name string) {
	names, err := p.ReadDir(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<pre>\n")
	for _, child := range names {
		child = html.EscapeString(child)
		fmt.Fprintf(w, "<a href=\"%s\">%s</a>\n", child, child)
	}
	fmt.Fprint(w, "</pre>\n")
}
