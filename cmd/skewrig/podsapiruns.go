package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/podsapi/script"
	"github.com/skewrig/skewrig/podsapi/server"
)

// grpcLimit is how many bytes a message may have that a gRPC client takes, unless it
// sets another limit.
const grpcLimit = 4 << 20

// printRuns prints what clients did, and below the table what no row of a client
// says. A client may have dropped a list that is too large: to the server, the call
// was OK.
func printRuns(w io.Writer, runs []script.Run) {
	var rows, notes, tooLarge []string
	largest := 0
	for _, r := range runs {
		for _, c := range r.Clients {
			rows = append(rows, fmt.Sprintf("%d\t%d\t%d\t%s\t%s\t%d\t%d\t%s", r.Number, c.ID, c.PID, callList(c.Calls), state(c), c.Events, c.Missed, podList(c.Behind)))
			if c.LargestList > grpcLimit {
				tooLarge = append(tooLarge, fmt.Sprintf("client %d of run %d", c.ID, r.Number))
				largest = max(largest, c.LargestList)
			}
		}
		if r.Refused > 0 {
			notes = append(notes, fmt.Sprintf("In run %d the server refused %d connections of users other than root and its own.\n", r.Number, r.Refused))
		}
		if r.Forgotten > 0 {
			notes = append(notes, fmt.Sprintf("In run %d there were %d more clients, which disconnected earlier and are not shown.\n", r.Number, r.Forgotten))
		}
	}
	if others := len(tooLarge) - 1; others > 0 {
		tooLarge[0] += fmt.Sprintf(" and %d more", others)
	}
	if len(tooLarge) > 0 {
		notes = append(notes, fmt.Sprintf("A list of %.1f MiB was more than gRPC clients take, which is 4 MiB unless they set grpc.MaxCallRecvMsgSize: "+
			"%s may have got nothing, though the server says OK.\n", float64(largest)/(1<<20), tooLarge[0]))
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "No client connected.")
	} else {
		table(w, "RUN\tCLIENT\tPID\tCALLS\tSTATE\tEVENTS\tMISSED\tBEHIND", rows, func(row string) string { return row })
	}
	fmt.Fprint(w, strings.Join(notes, ""))
}

// callList is what a client called, in one column.
func callList(calls []server.Calls) string {
	var words []string
	for _, c := range calls {
		words = append(words, fmt.Sprintf("%d×%s:%s", c.Count, c.Method, c.Code))
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// state is what became of a client.
func state(c script.Client) string {
	switch {
	case !c.Disconnected.IsZero():
		return "gone"
	case c.Watching == 0:
		return "connected"
	case c.Watching == 1:
		return "watching"
	}
	return fmt.Sprintf("%d watches", c.Watching)
}

// podList is how many pods there are, and the names of the first few.
func podList(pods []script.Behind) string {
	const few = 3
	if len(pods) == 0 {
		return "0"
	}
	var names []string
	for _, p := range pods[:min(few, len(pods))] {
		names = append(names, p.Name)
	}
	if len(pods) > few {
		names = append(names, "…")
	}
	return fmt.Sprintf("%d: %s", len(pods), strings.Join(names, " "))
}
