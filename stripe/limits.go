package stripe

import "tailrace"

// The limits of a part. All are in the unit that their name says and hold for readers as well: a part that passes one is corrupt.
const (
	// StripeRows is the most updates of one stripe.
	StripeRows = 131_072
	// StripeBytes is the size of the values of one stripe, in bytes: the row that reaches it is the stripe's last.
	StripeBytes = 64 << 20
	// PageRows is the number of rows in a page group.
	PageRows = 8_192
	// PageBytes is where a wide column cuts its page of a group: the value that reaches it is the page's last.
	PageBytes = 1 << 20
	// MaxValueBytes is the largest value. Append refuses a larger one.
	MaxValueBytes = 128 << 20
	// maxGroupBytes is what the values of one column of a page group take at most: those of a stripe and one more.
	maxGroupBytes = StripeBytes + MaxValueBytes
	// MaxKeyBytes is the longest key that a footer keeps; a longer one is cut to a bound.
	MaxKeyBytes = 256
	// MaxStatBytes is the longest min or max that a footer or page index keeps; a longer one is cut to a bound.
	MaxStatBytes = 32
	// MaxFooterBytes bounds the page indexes and the footer together, which a reader holds in memory.
	MaxFooterBytes = 64 << 20
)

// Codec says what is tried around a page's body.
type Codec uint8

// The codecs. The numbers are stored and never reused.
const (
	CodecDefault Codec = 0   // of Options: CodecZstd. In a page: no codec
	CodecLZ4     Codec = 1   // of pages only
	CodecZstd    Codec = 2   // of Options: lz4 or zstd, whichever pays
	CodecNone    Codec = 255 // of Options only: never try one
)

// Options are the settings that a part's bytes depend on besides its rows. The zero value means the defaults; the footer keeps what
// was used.
type Options struct {
	StripeRows  int // rows, 0: StripeRows
	StripeBytes int // bytes, 0: StripeBytes
	PageRows    int // rows, 0: PageRows, which is also the most
	Codec       Codec
	// FSSTMinGainPercent is how much smaller, in percent, a symbol table must make a chunk of texts to be kept. 0: 5; below 0: any gain
	// is enough.
	FSSTMinGainPercent int
	// SampleValues is the number of values in each of the 16 windows that a chunk is sampled in, 0: 64.
	SampleValues int
	// Filters lists the columns whose chunks get a filter of their values, see Reader.MayHold.
	Filters []tailrace.ColumnID
	// Fault is for tests and no setting: it is called before each piece of work, and what it returns or panics with is what became of that. chunk is 0 for
	// times, 1 for diffs, 2 for the first column; page -1 is the verdict on the chunk.
	Fault func(stripe, chunk, page int) error
}

// stored is what a footer keeps of o.
func (o Options) stored() Options {
	o.Fault = nil
	return o
}

// The range and default of Options.SampleValues.
const (
	MinSampleValues     = 8
	MaxSampleValues     = 1024
	defaultSampleValues = 64
	defaultFSSTMinGain  = 5
)

func (o Options) filled() Options {
	pick := func(v, limit int) int {
		if v <= 0 || v > limit {
			return limit
		}
		return v
	}
	o.StripeRows, o.StripeBytes = pick(o.StripeRows, StripeRows), pick(o.StripeBytes, StripeBytes)
	o.PageRows = pick(o.PageRows, PageRows)
	if o.Codec != CodecNone {
		o.Codec = CodecZstd
	}
	if o.FSSTMinGainPercent == 0 {
		o.FSSTMinGainPercent = defaultFSSTMinGain
	}
	if o.SampleValues <= 0 {
		o.SampleValues = defaultSampleValues
	}
	o.FSSTMinGainPercent = min(max(o.FSSTMinGainPercent, -1), 100)
	o.SampleValues = min(max(o.SampleValues, MinSampleValues), MaxSampleValues)
	return o
}
