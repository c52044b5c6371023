package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// firstPortFile is where Linux says which ports need no privilege
// (ip-sysctl.rst of the kernel's documentation).
const firstPortFile = "/proc/sys/net/ipv4/ip_unprivileged_port_start"

// Listen opens a TCP port on a loopback address, or on all addresses of a network
// that is the caller's own. An error says what to do about it. Programs use it for
// ports that no Server plays.
func Listen(ctx context.Context, addr netip.AddrPort, ownNetwork bool) (net.Listener, error) {
	at, err := where(addr, ownNetwork)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, explain(addr, err)
	}
	return port{listener.(*net.TCPListener)}, nil
}

// port is a listener whose port is free as soon as it is closed.
type port struct{ *net.TCPListener }

// Close implements net.Listener. A process that is just being started has a copy
// of every open file for a moment: without the shutdown, the port would be taken
// until the last copy is closed, and the next container could not have it.
func (p port) Close() error {
	if raw, err := p.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) // Close says what is wrong, if something is
		})
	}
	return p.TCPListener.Close()
}

// where is what to listen on, as package net has it.
func where(addr netip.AddrPort, ownNetwork bool) (string, error) {
	switch {
	case ownNetwork:
		return fmt.Sprintf(":%d", addr.Port()), nil
	case !addr.Addr().IsLoopback():
		return "", fmt.Errorf("listening on %s: not a loopback address, and fake servers listen on loopback only", addr)
	default:
		return addr.String(), nil
	}
}

// ListenPacket opens a UDP port, as Listen does for TCP.
func ListenPacket(ctx context.Context, addr netip.AddrPort, ownNetwork bool) (net.PacketConn, error) {
	at, err := where(addr, ownNetwork)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", at)
	if err != nil {
		return nil, explain(addr, err)
	}
	return conn, nil
}

// explain adds to the failure to open a port what the user can do.
func explain(addr netip.AddrPort, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listening on %s: the port is taken: give the containers of a pod different ports, "+
			"or stop the process that `ss -ltnp 'sport = :%d'` shows: %w", addr, addr.Port(), err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listening on %s: ports below %d are for root: use a higher port, "+
			"or run `sudo sysctl -w net.ipv4.ip_unprivileged_port_start=%d`: %w", addr, firstPort(), addr.Port(), err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("listening on %s: this machine doesn't have the address: "+
			"Linux has all of 127.0.0.0/8 on its loopback device: %w", addr, err)
	default:
		return fmt.Errorf("listening on %s: %w", addr, err)
	}
}

// firstPort returns the first port that needs no privilege. If the kernel
// doesn't say, it is 1024.
func firstPort() int {
	data, err := os.ReadFile(firstPortFile)
	if err != nil {
		return 1024
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 1024
	}
	return port
}
