package tailrace

// Field is one column of a collection.
type Field struct {
	ID      ColumnID
	Name    string
	Type    Type
	NotNull bool
	// Default is the SQL expression for a column that an INSERT leaves out, "" for none.
	Default string
	// Missing is the stored bytes of the value that rows written before the column existed have; nil is NULL.
	Missing []byte
	// Domain is the domain that the column was declared with; Type is the type under it then. 0 for none.
	Domain CollectionID `json:",omitempty"`
}

// Schema is what a collection's rows look like now. A Schema is immutable: a change makes a new one with the next Version.
type Schema struct {
	Version uint32
	Fields  []Field
	// Key lists the columns of the primary key as indexes into Fields, in key order; empty when rows are a multiset.
	Key []int
	// NextColumn is the ID that the next added column gets.
	NextColumn ColumnID
}

// Index is the place of column id in Fields, -1 when it is not there (any more).
func (s *Schema) Index(id ColumnID) int {
	for i := range s.Fields {
		if s.Fields[i].ID == id {
			return i
		}
	}
	return -1
}

// ByName is the place of the column called name in Fields, -1 when there is none.
func (s *Schema) ByName(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// SortOrder lists all columns as indexes into Fields in the order that rows are sorted by: the key, then the rest.
func (s *Schema) SortOrder() []int {
	order := append(make([]int, 0, len(s.Fields)), s.Key...)
	for i := range s.Fields {
		if !s.InKey(i) {
			order = append(order, i)
		}
	}
	return order
}

// InKey reports whether Fields[i] is part of the key.
func (s *Schema) InKey(i int) bool {
	for _, k := range s.Key {
		if k == i {
			return true
		}
	}
	return false
}
