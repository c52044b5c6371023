package cluster

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/program"
)

// The second octets of the loopback blocks that rigs share out among
// themselves. 127.0 and 127.1 are left to the machine.
const firstBlock, lastBlock = 2, 254

// block is 127.N.0.0/16, owned by one rig. On Linux every address of
// 127.0.0.0/8 is local with no set-up, so that a rig with a block of its own
// can use the well-known ports everywhere and never meets another rig.
type block struct {
	octet byte
	claim net.Listener

	mu    sync.Mutex
	taken [maxNodes]bool
	next  int // the number that was not taken for longest
}

// claimBlock finds a block that no rig on this machine uses, and of which no other program has the
// ports. The claim is a socket in the kernel's abstract namespace: it leaves no file, it is gone
// when its owner is, and it is scoped exactly as loopback addresses are, to
// the network namespace.
func claimBlock() (*block, error) {
	held := make(map[string]int)
	for _, i := range rand.Perm(lastBlock - firstBlock + 1) {
		b, err := claim(byte(firstBlock + i))
		if err == nil {
			return b, nil
		}
		held[err.Error()]++
	}
	var holders []string
	for _, holder := range slices.Sorted(maps.Keys(held)) {
		holders = append(holders, fmt.Sprintf("%d: %s", held[holder], holder))
	}
	return nil, fmt.Errorf("claiming a loopback block: all %d are taken:\n%s", lastBlock-firstBlock+1, strings.Join(holders, "\n"))
}

// claim claims one block. The error says who has it.
func claim(octet byte) (*block, error) {
	name := fmt.Sprintf("@skewrig/127.%d", octet)
	socket, err := net.Listen("unix", name) //nolint:noctx // no name is resolved
	if err != nil {
		return nil, fmt.Errorf("claimed by %s: %w", claimant(name), withoutName(err))
	}
	b := &block{octet: octet, claim: socket}
	for _, p := range program.All {
		address := b.controlPlane()
		if p.Role == program.Agent {
			address = nodeAddress(b.node(0))
		}
		for _, port := range []int{p.Port, p.PeerPort, p.HealthPort} {
			if port != 0 {
				err = errors.Join(err, isFree(address, port))
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.release())
	}
	return b, nil
}

// isFree returns an error if a program listens at a port.
func isFree(address netip.Addr, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(address.String(), strconv.Itoa(port))) //nolint:noctx // no name is resolved
	if err != nil {
		return fmt.Errorf("port %d is taken by another program (ss -ltnp 'sport = :%d' shows which): %w", port, port, withoutName(err))
	}
	return l.Close()
}

// claimant is the process that listens at a socket, and its user.
func claimant(socket string) string {
	conn, err := net.Dial("unix", socket) //nolint:noctx // no name is resolved
	if err != nil {
		return "another process"
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return "another process"
	}
	var peer *unix.Ucred
	failed := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if failed != nil || err != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d of user %d", peer.Pid, peer.Uid)
}

// withoutName is an error of the network without the address, which differs from block to block.
func withoutName(err error) error {
	if of := (*net.OpError)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}

func (b *block) release() error {
	if err := b.claim.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// network is all of the block.
func (b *block) network() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{127, b.octet, 0, 0}), 16)
}

// controlPlane is the address of etcd, and of each first component of the control plane.
func (b *block) controlPlane() netip.Addr { return b.member(0) }

// member is the address of the i-th component of a program, counted from 0.
func (b *block) member(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, b.octet, 255, byte(1 + i)})
}

// take finds a number for a node that no other one has. Numbers come back as late as
// possible: who still connects to a node that is gone must not find another one.
func (b *block) take() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range maxNodes {
		number := b.next
		b.next = (b.next + 1) % maxNodes
		if !b.taken[number] {
			b.taken[number] = true
			return number, nil
		}
	}
	return 0, fmt.Errorf("a control plane can have %d nodes, and has them", maxNodes)
}

// giveBack makes numbers free.
func (b *block) giveBack(numbers []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, number := range numbers {
		b.taken[number] = false
	}
}

// node is the range of the n-th node, counted from 0. Its first address is the
// node's own, the others are its pods'.
func (b *block) node(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{127, b.octet, byte(n), 0}), 24)
}

// podAddresses are those of the real pods of a node whose range of loopback addresses is given.
// Who has a block of those has these, too.
func podAddresses(node netip.Prefix) netip.Prefix {
	address := node.Addr().As4()
	address[0] = 240
	return netip.PrefixFrom(netip.AddrFrom4(address), node.Bits())
}

// maxNodes is how many nodes fit into a block beside the control plane.
const maxNodes = 255
