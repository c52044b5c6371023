package shell

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// dialer returns what the processes of a container connect with. They reach the addresses of
// their network, and what they call localhost is their pod.
func dialer(p *image.Process) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err == nil {
			host, err = resolve(p, host)
		}
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		d := new(net.Dialer)
		if to, err := netip.ParseAddr(host); p.IP.IsValid() && (p.OwnNetwork || err == nil && to.IsLoopback()) {
			d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(p.IP, 0))
		}
		return d.DialContext(ctx, network, net.JoinHostPort(host, port))
	}
}

// resolve returns the address that a host has for the processes of a container. Pods have no
// loopback interface of their own: all addresses of it that are no pod's are the container's own.
func resolve(p *image.Process, host string) (string, error) {
	if p.OwnNetwork || !p.IP.IsValid() {
		return host, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil && host != "" && host != "localhost" {
		if ip, err = lookup(p, host); err != nil {
			if !p.Network.IsValid() {
				return host, nil
			}
			return "", err
		}
	}
	switch ip = ip.Unmap(); {
	case !ip.IsValid(), ip.IsUnspecified(), ip == netip.AddrFrom4([4]byte{127, 0, 0, 1}), ip == netip.IPv6Loopback():
		return p.IP.String(), nil
	case !p.Network.IsValid(), p.Network.Contains(ip):
		return ip.String(), nil
	case ip.IsLoopback():
		return p.IP.String(), nil
	}
	return "", os.NewSyscallError("connect", syscall.ENETUNREACH)
}

// lookup finds a host name in the file that the kubelet writes. Containers have no DNS.
func lookup(p *image.Process, name string) (netip.Addr, error) {
	hosts, _ := p.ReadFile("/etc/hosts") // a container may have none
	for line := range strings.Lines(string(hosts)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 && slices.Contains(fields[1:], name) {
			return netip.ParseAddr(fields[0])
		}
	}
	return netip.Addr{}, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}
