package runtime

import (
	"fmt"
	"net/netip"
)

// addressPool hands out the addresses of a range, lowest free first. As in any
// IPv4 subnet, the first and the last address are not used; the second is the
// node's.
type addressPool struct {
	cidr netip.Prefix
	node netip.Addr
	used map[netip.Addr]bool
}

func newAddressPool(cidr netip.Prefix) *addressPool {
	cidr = cidr.Masked()
	return &addressPool{cidr: cidr, node: cidr.Addr().Next(), used: map[netip.Addr]bool{}}
}

func (p *addressPool) take() (netip.Addr, error) {
	for ip := p.node.Next(); p.cidr.Contains(ip.Next()); ip = ip.Next() {
		if !p.used[ip] {
			p.used[ip] = true
			return ip, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no free pod address in %s: all %d are held by sandboxes", p.cidr, len(p.used))
}

func (p *addressPool) free(ip netip.Addr) { delete(p.used, ip) }
