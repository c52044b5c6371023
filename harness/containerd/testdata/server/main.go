// Command server is what pods of a test run: it answers HTTP requests at port 8080 until it is
// asked to end. As pause, it only waits; as true, it ends.
package main

import (
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	switch filepath.Base(os.Args[0]) {
	case "true":
		return
	case "server":
		go http.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
		println("listening")
	}
	<-asked
}
