package sql

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// hasNode tells that match is true for a node of the tree below m, m included.
func hasNode(m proto.Message, match func(*pg_query.Node) bool) bool {
	found := false
	var visit func(m protoreflect.Message)
	visit = func(m protoreflect.Message) {
		if n, ok := m.Interface().(*pg_query.Node); ok && match(n) {
			found = true
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.Kind() != protoreflect.MessageKind:
			case f.IsList():
				for i := range v.List().Len() {
					visit(v.List().Get(i).Message())
				}
			default:
				visit(v.Message())
			}
			return !found
		})
	}
	visit(m.ProtoReflect())
	return found
}
