package collect

import "context"

// Up returns when the program of a container has come up, or why it has not when ctx ends.
func (c *Collector) Up(ctx context.Context, id string) error {
	select {
	case <-c.upOf(id):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// upOf is closed when the program of a container has come up.
func (c *Collector) upOf(id string) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up[id] == nil {
		c.up[id] = make(chan struct{})
	}
	return c.up[id]
}

// cameUp notes that the program of a container has come up. It may say so again.
func (c *Collector) cameUp(id string) {
	up := c.upOf(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-up:
	default:
		close(up)
	}
}
