package script

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// churn has running pods become ready and not ready, or be restarted, by the numbers
// that follow from the seed.
func (p *planner) churn(c churn) error {
	length := time.Duration(c.For)
	if c.Rate <= 0 || length <= 0 {
		return errors.New("churn needs a rate in changes per second, and a duration: churn: {rate: 100, for: 10s}")
	}
	count := length.Seconds() * float64(c.Rate)
	if count > maxMoves || len(p.moves)+int(count) > maxMoves {
		return fmt.Errorf("that is more than %d changes: lower the rate or shorten the time", maxMoves)
	}
	var running []*life
	for _, key := range p.order {
		if l := p.lives[key]; l.phase == corev1.PodRunning {
			running = append(running, l)
		}
	}
	if len(running) == 0 {
		return errors.New("no pod runs at that time that could change")
	}
	p.move(fmt.Sprintf("%d changes a second of %d pods for %s", c.Rate, len(running), length), nil)
	began, chance := p.at, rand.New(rand.NewPCG(uint64(c.Seed), 0))
	for i := range int(count) {
		p.at = began + time.Duration(float64(i)/float64(c.Rate)*float64(time.Second))
		l := running[chance.IntN(len(running))]
		l.vary(chance, p.now())
		p.move("", Set{[]*corev1.Pod{l.shown()}})
	}
	p.at = began + length
	return nil
}

// vary changes a running pod by chance.
func (l *life) vary(chance *rand.Rand, now time.Time) {
	l.changed, l.own = now, false
	if chance.IntN(4) == 0 {
		l.restarts++
		l.ready = true
		return
	}
	l.ready = !l.ready
}
