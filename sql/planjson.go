package sql

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// properties is the node as JSON has it.
func (n *planNode) properties() []property {
	out := []property{{"Node Type", n.what}}
	switch {
	case n.table != nil:
		out = append(out, property{"Schema", n.table.Schema}, property{"Relation Name", n.table.Name})
	case n.name != "":
		out = append(out, property{"Relation Name", n.name})
	}
	out = append(out, n.props...)
	if len(n.nodes) > 0 {
		out = append(out, property{"Plans", n.nodes})
	}
	return out
}

// writeJSON writes properties in their order, which a map would lose.
func writeJSON(out *bytes.Buffer, props []property, indent string) {
	out.WriteString("{")
	for i, p := range props {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(out, "\n%s  %q: ", indent, p.name)
		switch v := p.value.(type) {
		case *planNode:
			writeJSON(out, v.properties(), indent+"  ")
		case []*planNode:
			out.WriteString("[")
			for k, n := range v {
				if k > 0 {
					out.WriteString(",")
				}
				out.WriteString("\n" + indent + "    ")
				writeJSON(out, n.properties(), indent+"    ")
			}
			out.WriteString("\n" + indent + "  ]")
		case time.Duration:
			fmt.Fprintf(out, "%.3f", float64(v.Microseconds())/1000)
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				panic("a plan's value that JSON cannot hold: " + err.Error()) // they are texts and numbers
			}
			out.Write(raw)
		}
	}
	out.WriteString("\n" + indent + "}")
}
