package agnhost

import (
	"context"
	"net"
	"net/netip"

	"github.com/skewrig/skewrig/fakeservers/server"
)

// datagramSize is the longest datagram that is read.
const datagramSize = 2048

// serveUDP answers datagrams until the process ends. A datagram for which
// answer returns nil goes unanswered.
func (p *process) serveUDP(ctx context.Context, port uint16, answer func(datagram []byte, from net.Addr) []byte) error {
	conn, err := server.ListenPacket(ctx, netip.AddrPortFrom(p.IP, port), p.OwnNetwork)
	if err != nil {
		return err
	}
	p.opened = append(p.opened, conn)
	p.running.Go(func() {
		buffer := make([]byte, datagramSize)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if out := answer(buffer[:n], from); out != nil {
				if _, err := conn.WriteTo(out, from); err != nil {
					p.log.Printf("writing to UDP client %s: %v", from, err)
				}
			}
		}
	})
	return nil
}
