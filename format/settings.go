package format

import (
	"time"

	"tailrace"
)

// The values of DateStyle: how dates and timestamps are printed.
const (
	StyleISO      = "ISO"      // 1997-12-17 07:37:16-08
	StyleSQL      = "SQL"      // 12/17/1997 07:37:16.00 PST
	StylePostgres = "Postgres" // Wed Dec 17 07:37:16 1997 PST
	StyleGerman   = "German"   // 17.12.1997 07:37:16.00 PST
)

// The values of DateOrder: which part of 01/02/03 is what.
const (
	OrderMDY = "MDY"
	OrderDMY = "DMY"
	OrderYMD = "YMD"
)

// The values of IntervalStyle.
const (
	IntervalPostgres = "postgres"         // 1 year 2 mons -3 days +04:05:06.789
	IntervalVerbose  = "postgres_verbose" // @ 1 year 2 mons -3 days 4 hours 5 mins 6.789 secs
	IntervalSQL      = "sql_standard"     // +1-2 -3 +4:05:06.789
	IntervalISO      = "iso_8601"         // P1Y2M-3DT4H5M6.789S
)

// Settings are the session settings that change how values read and print. They are only read here: one Settings may serve
// many goroutines, and a session that changes one makes a copy.
type Settings struct {
	Location         *time.Location // of timestamptz; nil is UTC
	DateStyle        string         // one of the Style constants
	DateOrder        string         // one of the Order constants
	IntervalStyle    string         // one of the Interval constants
	ByteaHex         bool           // bytea_output = hex, else escape
	ExtraFloatDigits int            // -15..3; above 0 floats print with the fewest digits that read back as the same number
	// Now is the start of the transaction, which 'now', 'today' and a time zone abbreviation without a date refer to; zero is the clock.
	Now time.Time
	// Labels gives the labels of an enum in order, to check what is read; a nil func, or nil labels, takes any label.
	Labels func(enum tailrace.CollectionID) []string
	// Names reads and prints regclass, regtype and their like. nil knows the built-in types only: others read and print as numbers.
	Names Names
}

// Names knows the objects of a catalog that the values of kinds KindRegclass, KindRegtype, KindRegproc, KindRegnspace and KindRegrole are the OIDs of.
type Names interface {
	// OID finds the object that text names as SQL would: with or without a schema, quoted or not. The error is for users: 42P01, 42704, 42883, 3F000.
	OID(kind tailrace.Kind, text string) (uint32, error)
	// Name is the object as SQL would name it, with its schema where the search path does not lead to it; "" when there is no such object.
	Name(kind tailrace.Kind, oid uint32) string
}

// Default returns PostgreSQL's settings out of the box, in UTC.
func Default() *Settings {
	return &Settings{
		Location: time.UTC, DateStyle: StyleISO, DateOrder: OrderMDY, IntervalStyle: IntervalPostgres, ByteaHex: true, ExtraFloatDigits: 1,
	}
}
