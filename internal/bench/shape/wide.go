package shape

import (
	"strconv"

	"tailrace"
)

var wideColumns = []column{
	{"id", tailrace.KindInt8},
	{"created_at", tailrace.KindTimestamptz},
	{"updated_at", tailrace.KindTimestamptz},
	{"customer_id", tailrace.KindInt4},
	{"account_id", tailrace.KindInt8},
	{"session_id", tailrace.KindInt8},
	{"order_no", tailrace.KindText},
	{"status", tailrace.KindText},
	{"channel", tailrace.KindText},
	{"country", tailrace.KindText},
	{"currency", tailrace.KindText},
	{"city", tailrace.KindText},
	{"first_name", tailrace.KindText},
	{"last_name", tailrace.KindText},
	{"product_code", tailrace.KindText},
	{"category", tailrace.KindText},
	{"quantity", tailrace.KindInt2},
	{"unit_price", tailrace.KindNumeric},
	{"discount", tailrace.KindNumeric},
	{"tax", tailrace.KindNumeric},
	{"total", tailrace.KindNumeric},
	{"shipping", tailrace.KindNumeric},
	{"weight", tailrace.KindFloat8},
	{"latitude", tailrace.KindFloat8},
	{"longitude", tailrace.KindFloat8},
	{"score", tailrace.KindFloat8},
	{"ordered_on", tailrace.KindDate},
	{"shipped_on", tailrace.KindDate},
	{"due_on", tailrace.KindDate},
	{"is_gift", tailrace.KindBool},
	{"is_paid", tailrace.KindBool},
	{"is_express", tailrace.KindBool},
	{"priority", tailrace.KindInt2},
	{"warehouse", tailrace.KindInt2},
	{"clerk_id", tailrace.KindInt4},
	{"batch_no", tailrace.KindInt4},
	{"stock_left", tailrace.KindInt4},
	{"payment", tailrace.KindText},
	{"coupon", tailrace.KindText},
	{"note", tailrace.KindText},
	{"revision", tailrace.KindInt2},
}

const second = int64(1e6) // microseconds

// wide writes an order: who, what, how much, where, when. Columns depend on each other as those of real orders do.
func (v *vocabulary) wide(l *line, i int) {
	created := int64(i)*40*second + int64(l.below(int(40*second))) // an order every 40 seconds
	day := int(created / (86400 * second))
	l.int(1_000_000 + i)
	l.moment(created)
	if l.one(8) {
		l.null()
	} else {
		l.moment((created/second + int64(l.skewed(30*86400))) * second)
	}
	l.int(1 + l.skewed(2_000_000))
	l.int(1_000_000_000 + l.below(4_000_000_000))
	l.int(int(l.pcg.Uint64() >> 1))
	l.order(day, i)
	l.text(l.often(statuses))
	l.text(l.often(channels))
	l.place(v)
	l.text(l.often(v.first))
	l.text(l.often(v.last))
	l.text(l.often(v.products))
	l.text(l.often(categories))
	l.money()
	l.measures()
	l.dates(day)
	l.rest(v, i)
}

// order writes an order number: ORD-230114-0471.
func (l *line) order(day, i int) {
	l.next()
	l.dst = append(l.dst, "ORD-"...)
	l.dst = epoch.AddDate(0, 0, day).AppendFormat(l.dst, "060102")
	l.dst = append(l.dst, '-')
	l.padded(i%2160, 4)
}

// place writes a country, its currency and a city of it.
func (l *line) place(v *vocabulary) {
	at := l.skewed(len(countries))
	l.text(countries[at])
	l.text(currencies[at%len(currencies)])
	per := len(v.cities) / len(countries)
	l.text(v.cities[at*per+l.skewed(per)])
}

// money writes a quantity, a price and what follows from both.
func (l *line) money() {
	quantity := 1 + l.skewed(40)
	price := 99 + 100*l.skewed(900)
	if l.one(3) {
		price = 100 + l.below(60_000)
	}
	discount := 0
	if l.one(5) {
		discount = price * quantity / 20
	}
	tax := (price*quantity - discount) * 19 / 100
	l.int(quantity)
	l.fixed(price, 2)
	l.fixed(discount, 2)
	l.fixed(tax, 2)
	l.fixed(price*quantity-discount+tax, 2)
	if l.one(6) {
		l.null()
	} else {
		l.fixed(100*(3+l.skewed(20))+90, 2)
	}
}

// measures writes a weight, a point and a score: decimals as people and devices write them, and one that fills all its bits.
func (l *line) measures() {
	l.fixed(50+l.skewed(40_000), 3)
	l.fixed(35_000_000+l.below(25_000_000), 6)
	l.fixed(-10_000_000+l.below(40_000_000), 6)
	if l.one(20) {
		l.null()
		return
	}
	l.next()
	l.dst = strconv.AppendFloat(l.dst, float64(l.pcg.Uint64()>>11)/(1<<53), 'g', -1, 64)
}

// dates writes the dates of an order.
func (l *line) dates(day int) {
	l.day(day)
	if l.one(4) {
		l.null()
	} else {
		l.day(day + 1 + l.skewed(14))
	}
	l.day(day + 14 + 7*l.skewed(4))
}

// rest writes flags, small numbers and remarks.
func (l *line) rest(v *vocabulary, i int) {
	l.bool(l.one(12))
	l.bool(!l.one(5))
	if l.one(10) {
		l.null()
	} else {
		l.bool(l.one(3))
	}
	l.int(1 + l.skewed(5))
	l.int(1 + l.below(40))
	l.int(100 + l.below(500))
	l.int(i / 250)
	l.int(l.below(10_000))
	l.text(l.often(payments))
	if l.one(12) {
		l.text(l.often(v.coupons))
	} else {
		l.null()
	}
	if l.one(2) {
		l.quoted(v.sentence(nil, l.dice, 4+l.below(12)))
	} else {
		l.null()
	}
	l.int(1 + l.skewed(9))
}
