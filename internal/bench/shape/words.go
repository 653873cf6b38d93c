package shape

// vocabulary is the words that rows are made of: lists of fixed words, and seeded ones that sound like words.
type vocabulary struct {
	first, last, cities, products, coupons, domains, paths []string
	words                                                  []string // the common ones first
}

// Sizes of the lists.
const (
	firstNames = 400
	lastNames  = 3_000
	citiesPer  = 25 // cities of a country
	productN   = 8_000
	couponN    = 150
	domainN    = 600
	pathN      = 1_500
	wordN      = 12_000
)

func newVocabulary() *vocabulary {
	d := newDice(7)
	name := func() string { return title(d.word(2 + d.below(2))) }
	v := &vocabulary{
		first:  distinct(firstNames, name),
		last:   distinct(lastNames, name),
		cities: distinct(citiesPer*len(countries), func() string { return name() + d.pick(endings) }),
	}
	v.products = distinct(productN, func() string {
		return string([]byte{byte('A' + d.below(26)), byte('A' + d.below(26)), '-', byte('0' + d.below(10)), byte('0' + d.below(10)), byte('0' + d.below(10)), byte('0' + d.below(10))})
	})
	v.coupons = distinct(couponN, func() string { return upper(d.word(2)) + string([]byte{byte('1' + d.below(9)), '0'}) })
	v.domains = distinct(domainN, func() string {
		return d.word(2+d.below(2)) + d.pick([]string{".com", ".com", ".org", ".net", ".de", ".io"})
	})
	v.paths = distinct(pathN, func() string { return d.word(1+d.below(2)) + "-" + d.word(1+d.below(2)) })
	v.words = append(v.words, common...)
	v.words = append(v.words, distinct(wordN, func() string { return d.word(1 + d.below(3)) })...)
	return v
}

// word makes a word of n syllables.
func (d dice) word(n int) string {
	var w string
	for range n {
		w += onsets[d.half(len(onsets))] + nuclei[d.half(len(nuclei))] + codas[d.half(len(codas))]
	}
	return w
}

// sentence adds n words, a quarter of them the commonest of English.
func (v *vocabulary) sentence(dst []byte, d dice, n int) []byte {
	for k := range n {
		w := d.pick(v.words)
		if d.one(4) {
			w = d.often(common)
		}
		at := len(dst)
		if k > 0 {
			dst = append(dst, ' ')
			at++
		}
		dst = append(dst, w...)
		if k == 0 {
			dst[at] -= 'a' - 'A'
		} else if d.one(14) && k < n-1 {
			dst = append(dst, ',')
		}
	}
	return append(dst, '.')
}

func title(w string) string { return string(w[0]-'a'+'A') + w[1:] }

func upper(w string) string {
	b := []byte(w)
	for i := range b {
		b[i] -= 'a' - 'A'
	}
	return string(b)
}

var (
	onsets = []string{"s", "r", "t", "l", "m", "n", "b", "d", "c", "p", "k", "f", "g", "h", "v", "st", "br", "tr", "w", "sh", "ch", "pl", "gr", "th", "j", "z"}
	nuclei = []string{"a", "e", "i", "o", "u", "ea", "ai", "ou", "ee", "io"}
	codas  = []string{"", "n", "r", "", "s", "l", "t", "m", "nd", "ng", "ck", "st"}

	endings = []string{"", "", "", " City", "ville", "burg", "ton", " Falls"}

	statuses   = []string{"delivered", "shipped", "paid", "pending", "returned", "cancelled", "on hold"}
	channels   = []string{"web", "app", "shop", "phone", "partner"}
	payments   = []string{"card", "invoice", "transfer", "wallet", "cash"}
	categories = []string{
		"books", "clothing", "electronics", "garden", "groceries", "health and beauty", "home", "kitchen", "music", "office supplies", "pets", "shoes", "sports and outdoors", "tools", "toys", "travel",
	}
	countries = []string{
		"DE", "US", "FR", "GB", "IT", "ES", "NL", "PL", "AT", "CH", "BE", "SE", "DK", "CZ", "NO", "FI", "PT", "IE", "HU", "RO", "GR", "CA", "AU", "JP", "BR", "MX", "IN", "ZA", "KR", "TR",
	}
	currencies = []string{"EUR", "USD", "EUR", "GBP", "EUR", "EUR", "EUR", "PLN", "EUR", "CHF"}
	common     = []string{
		"the", "to", "and", "a", "of", "is", "it", "in", "that", "for", "was", "on", "with", "this", "we", "have", "not", "be", "as", "you", "are", "but", "they", "at", "very", "my", "had", "from", "would",
		"there", "so", "were", "all", "our", "good", "when", "order", "time", "one", "after", "which", "service", "just", "only", "great", "will", "product", "arrived", "again", "customer", "has", "been",
		"their", "if", "more", "an", "about", "delivery", "than", "like", "can", "no", "what", "out", "up", "could", "quality", "back", "other", "some", "because", "first", "days", "even", "price", "also",
		"over", "really", "never", "well", "two", "before", "people", "work", "ordered", "recommend", "bought", "better", "problem", "small", "box", "received", "refund", "support", "week", "nothing",
	}
	// In a user agent % stands for a number below 100 and # for one below 10,000.
	agents = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1%.0.#.% Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 1%_% like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E#",
		"Mozilla/5.0 (Linux; Android 1%; SM-S#B) AppleWebKit/537.36 Chrome/1%.0.#.% Mobile",
		"Mozilla/5.0 (X11; Linux x86_64; rv:1%.0) Gecko/20100101 Firefox/1%.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/1%.% Safari/605.1.15",
		"curl/8.%.0",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	}
)
