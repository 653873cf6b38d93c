package format

// wordKind is what a word in a date or an interval is. The numbers are bits' places in a fieldSet.
type wordKind uint8

// A fieldSet tells which parts of a date or time have been seen; each may be seen once.
type fieldSet uint32

const (
	kindReserved wordKind = iota // now, infinity, ...
	kindMonth
	kindYear
	kindDay
	kindZone    // an abbreviation of standard time
	kindSummer  // an abbreviation of summer time
	kindDynamic // an abbreviation whose meaning changed
	kindIgnore  // at, on
	kindHalf    // am, pm
	kindHour
	kindMinute
	kindSecond
	kindMilli
	kindMicro
	kindDayOfYear
	kindWeekday
	kindUnit // y, m, d: what the next number is
	kindEra  // ad, bc
	kindAgo
	kindSummerMod // dst
	kindISOTime   // t
	kindDecade
	kindCentury
	kindMillennium
	kindWeek
	kindUnknown
)

func (k wordKind) set() fieldSet { return 1 << k }

const (
	setYear  = fieldSet(1 << kindYear)
	setMonth = fieldSet(1 << kindMonth)
	setDay   = fieldSet(1 << kindDay)
	setDate  = setYear | setMonth | setDay
	setSecs  = fieldSet(1<<kindSecond | 1<<kindMilli | 1<<kindMicro)
	setTime  = fieldSet(1<<kindHour|1<<kindMinute) | setSecs
	setZone  = fieldSet(1 << kindZone)
)

// The values of words, where they are not plain numbers.
const (
	wordNow = iota + 1
	wordToday
	wordTomorrow
	wordYesterday
	wordZulu
	wordEpoch
	wordEarly
	wordLate

	unitYear
	unitMonth
	unitDay
	unitHour
	unitMinute
	unitSecond
	unitMilli
	unitMicro
	unitWeek
	unitQuarter
	unitDecade
	unitCentury
	unitMillennium
	unitJulian
	unitTime // t
	unitZone
	unitOther // words that PostgreSQL knows but no date may hold: dow, doy, ...

	halfAM
	halfPM
	eraAD
	eraBC
)

type word struct {
	kind  wordKind
	value int
}

// maxWord is how many letters of a word count: microseconds and microsecon are the same.
const maxWord = 10

func lookupWord(table map[string]word, text string) (word, bool) {
	w, ok := table[text[:min(len(text), maxWord)]]
	return w, ok
}

// dateWords are the words of dates and times, apart from time zones.
var dateWords = map[string]word{
	"infinity": {kindReserved, wordLate}, "-infinity": {kindReserved, wordEarly},
	"epoch": {kindReserved, wordEpoch}, "now": {kindReserved, wordNow}, "today": {kindReserved, wordToday},
	"tomorrow": {kindReserved, wordTomorrow}, "yesterday": {kindReserved, wordYesterday}, "allballs": {kindReserved, wordZulu},

	"ad": {kindEra, eraAD}, "bc": {kindEra, eraBC}, "am": {kindHalf, halfAM}, "pm": {kindHalf, halfPM},
	"at": {kindIgnore, 0}, "on": {kindIgnore, 0}, "dst": {kindSummerMod, 3600}, "t": {kindISOTime, unitTime},

	"jan": {kindMonth, 1}, "january": {kindMonth, 1}, "feb": {kindMonth, 2}, "february": {kindMonth, 2}, "mar": {kindMonth, 3},
	"march": {kindMonth, 3}, "apr": {kindMonth, 4}, "april": {kindMonth, 4}, "may": {kindMonth, 5}, "jun": {kindMonth, 6},
	"june": {kindMonth, 6}, "jul": {kindMonth, 7}, "july": {kindMonth, 7}, "aug": {kindMonth, 8}, "august": {kindMonth, 8},
	"sep": {kindMonth, 9}, "sept": {kindMonth, 9}, "september": {kindMonth, 9}, "oct": {kindMonth, 10}, "october": {kindMonth, 10},
	"nov": {kindMonth, 11}, "november": {kindMonth, 11}, "dec": {kindMonth, 12}, "december": {kindMonth, 12},

	"sun": {kindWeekday, 0}, "sunday": {kindWeekday, 0}, "mon": {kindWeekday, 1}, "monday": {kindWeekday, 1}, "tue": {kindWeekday, 2},
	"tues": {kindWeekday, 2}, "tuesday": {kindWeekday, 2}, "wed": {kindWeekday, 3}, "weds": {kindWeekday, 3},
	"wednesday": {kindWeekday, 3}, "thu": {kindWeekday, 4}, "thur": {kindWeekday, 4}, "thurs": {kindWeekday, 4},
	"thursday": {kindWeekday, 4}, "fri": {kindWeekday, 5}, "friday": {kindWeekday, 5}, "sat": {kindWeekday, 6}, "saturday": {kindWeekday, 6},

	"y": {kindUnit, unitYear}, "m": {kindUnit, unitMonth}, "d": {kindUnit, unitDay}, "h": {kindUnit, unitHour}, "mm": {kindUnit, unitMinute},
	"s": {kindUnit, unitSecond}, "j": {kindUnit, unitJulian}, "jd": {kindUnit, unitJulian}, "julian": {kindUnit, unitJulian},
	"dow": {kindUnit, unitOther}, "doy": {kindUnit, unitOther}, "isodow": {kindUnit, unitOther}, "isoyear": {kindUnit, unitOther},
}

// intervalWords are the words of intervals.
var intervalWords = map[string]word{
	"@": {kindIgnore, 0}, "ago": {kindAgo, 0},
	"y": {kindUnit, unitYear}, "yr": {kindUnit, unitYear}, "yrs": {kindUnit, unitYear}, "year": {kindUnit, unitYear}, "years": {kindUnit, unitYear},
	"mon": {kindUnit, unitMonth}, "mons": {kindUnit, unitMonth}, "month": {kindUnit, unitMonth}, "months": {kindUnit, unitMonth},
	"w": {kindUnit, unitWeek}, "week": {kindUnit, unitWeek}, "weeks": {kindUnit, unitWeek},
	"d": {kindUnit, unitDay}, "day": {kindUnit, unitDay}, "days": {kindUnit, unitDay},
	"h": {kindUnit, unitHour}, "hr": {kindUnit, unitHour}, "hrs": {kindUnit, unitHour}, "hour": {kindUnit, unitHour}, "hours": {kindUnit, unitHour},
	"m": {kindUnit, unitMinute}, "min": {kindUnit, unitMinute}, "mins": {kindUnit, unitMinute}, "minute": {kindUnit, unitMinute},
	"minutes": {kindUnit, unitMinute},
	"s":       {kindUnit, unitSecond}, "sec": {kindUnit, unitSecond}, "secs": {kindUnit, unitSecond}, "second": {kindUnit, unitSecond},
	"seconds": {kindUnit, unitSecond},
	"ms":      {kindUnit, unitMilli}, "msec": {kindUnit, unitMilli}, "msecs": {kindUnit, unitMilli}, "msecond": {kindUnit, unitMilli},
	"mseconds": {kindUnit, unitMilli}, "millisecon": {kindUnit, unitMilli},
	"us": {kindUnit, unitMicro}, "usec": {kindUnit, unitMicro}, "usecs": {kindUnit, unitMicro}, "usecond": {kindUnit, unitMicro},
	"useconds": {kindUnit, unitMicro}, "microsecon": {kindUnit, unitMicro},
	"qtr": {kindUnit, unitQuarter}, "quarter": {kindUnit, unitQuarter},
	"dec": {kindUnit, unitDecade}, "decs": {kindUnit, unitDecade}, "decade": {kindUnit, unitDecade}, "decades": {kindUnit, unitDecade},
	"c": {kindUnit, unitCentury}, "cent": {kindUnit, unitCentury}, "century": {kindUnit, unitCentury}, "centuries": {kindUnit, unitCentury},
	"mil": {kindUnit, unitMillennium}, "mils": {kindUnit, unitMillennium}, "millennia": {kindUnit, unitMillennium},
	"millennium": {kindUnit, unitMillennium},
	"timezone":   {kindUnit, unitZone}, "timezone_h": {kindUnit, unitOther}, "timezone_m": {kindUnit, unitOther},
}
