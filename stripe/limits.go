package stripe

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

// The codecs. The numbers are stored and never reused; 1 is kept for lz4.
const (
	CodecDefault Codec = 0 // of Options: zstd. In a page: no codec
	CodecZstd    Codec = 2
	CodecNone    Codec = 255 // of Options only: never try one
)

// Options are the settings that a part's bytes depend on besides its rows. The zero value means the defaults; the footer keeps what
// was used.
type Options struct {
	StripeRows  int // rows, 0: StripeRows
	StripeBytes int // bytes, 0: StripeBytes
	PageRows    int // rows, 0: PageRows, which is also the most
	Codec       Codec
}

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
	return o
}
