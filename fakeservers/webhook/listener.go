package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/skewrig/skewrig/harness/peer"
)

// listener is what a webhook is asked through.
type listener struct {
	server  http.Server
	address string
	work    sync.WaitGroup
}

// listen has a webhook listen.
func (l *listener) listen(cfg Config, handler http.Handler) error {
	on, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(cfg.Host, "0"))
	if err != nil {
		return err
	}
	l.address = on.Addr().String()
	l.server = http.Server{
		Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cfg.Certificate}, MinVersion: tls.VersionTLS12},
	}
	l.work.Go(func() { _ = l.server.ServeTLS(peer.Own(on), "", "") }) // until it is closed
	return nil
}

// URL is where API servers ask.
func (l *listener) URL() string { return "https://" + l.address }

// Close ends the webhook, and what it is being asked.
func (l *listener) Close() error {
	err := l.server.Close()
	l.work.Wait()
	return err
}

// maxReview bounds a review, in bytes. API servers accept objects of up to 3 MB, and a review
// may have two.
const maxReview = 16 << 20

var errAway = errors.New("the webhook is away")

// answers returns when it is time to answer, or why there is no answer.
func answers(ctx context.Context, away bool, delay time.Duration) error {
	if away {
		return errAway
	}
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		return errors.New("the API server did not wait for the answer")
	}
}

// write sends an answer.
func write(w http.ResponseWriter, review any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // who doesn't listen has gone
}
