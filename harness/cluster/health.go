package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// askLimit is how long an answer may take. It is generous, for a machine that is busy: how long a component may take to be
// ready, others say.
const askLimit = 15 * time.Second

// newAsker is a client that asks a component whether it is ready. It keeps its connection:
// what is asked a hundred times would begin with a hundred handshakes. Who has the answer
// closes it, since a component's connections are what a scenario may look at.
func (c *Cluster) newAsker() *http.Client {
	return &http.Client{Timeout: askLimit, Transport: &http.Transport{TLSClientConfig: c.trust.Clone()}}
}

// healthy asks a health endpoint.
func healthy(ctx context.Context, asker *http.Client, url string) error {
	_, err := read(ctx, asker, url)
	return err
}

// read returns what a component answers, if that is 200.
func read(ctx context.Context, asker *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := asker.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return io.ReadAll(resp.Body)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return nil, errors.Join(fmt.Errorf("%s answers %s: %s", url, resp.Status, body), err)
}
