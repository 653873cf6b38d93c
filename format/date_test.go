package format

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tailrace"
)

var dateInputs = []string{
	"1999-01-08", "January 8, 1999", "1/8/1999", "1/18/1999", "18/1/1999", "01/02/03", "1999-Jan-08", "Jan-08-1999", "08-Jan-1999", "99-Jan-08", "08-Jan-99", "Jan-08-99", "19990108", "990108", "1999.008", "J2451187", "January 8, 99 BC",
	"2000-02-29", "1900-02-29", "2000-02-30", "2000-13-01", "2000-00-01", "0000-01-01", "0001-01-01", "0001-01-01 BC", "4714-11-24 BC", "4714-11-23 BC", "5874897-12-31", "5874898-01-01", "294276-12-31", "294277-01-01", "infinity", "-infinity", "+infinity", "epoch",
	"now", "today", "tomorrow", "yesterday", "allballs", "today 04:05", "tomorrow 23:59:59.999999", "yesterday PST", "2004-10-19 10:23:54", "2004-10-19 10:23:54+02", "2004-10-19 10:23:54.123456789", "2004-10-19 10:23:54.9999995", "2004-10-19T10:23:54Z", "2004-10-19t102354", "20041019T102354.789-07", "2004-10-19 10:23:54 PST",
	"2004-10-19 10:23:54 America/New_York", "2004-10-19 10:23:54 america/new_york", "2004-10-19 10:23:54 Europe/Dublin", "2004-07-19 10:23:54 EST5EDT", "2004-07-19 10:23:54 MSK", "2010-07-19 10:23:54 MSK", "2014-12-01 10:23:54 MSK", "2004-10-19 10:23:54 Nowhere/Land", "2004-10-19 10:23:54 BST", "2004-10-19 10:23:54 DST", "2004-10-19 10:23:54 PST DST", "2004-10-19 10:23:54 PDT", "2004-10-19 10:23:54 zulu",
	"2004-10-19 10:23:54+05:30", "2004-10-19 10:23:54-0530", "2004-10-19 10:23:54+05:30:15", "2004-10-19 10:23:54+15:59", "2004-10-19 10:23:54+16", "2004-10-19 10:23:54-15:59:59", "2004-10-19 24:00:00", "2004-10-19 24:00:01", "2004-10-19 23:59:60", "2004-10-19 23:60:00", "2004-10-19 25:00", "2004-10-19 10:23 AM", "2004-10-19 10:23 PM", "2004-10-19 12:00 AM", "2004-10-19 12:00 PM", "2004-10-19 13:00 PM",
	"Wed Dec 17 07:37:16 1997 PST", "Wed 17 Dec 07:37:16 1997 PST", "Sat Jan 01 00:00:00 2000", "12/17/1997 07:37:16.00 PST", "17.12.1997 07:37:16.00 CET", "Mon Feb 10 17:32:01 1997 -0800", "Feb 10 5:32PM 1997", "1997.041 17:32:01 UTC", "19970210 173201 -0800", "97FEB10 5:32:01PM UTC", "97/02/10 17:32:01 UTC", "y2001m02d04", "y2001m02d04 h04mm05s06", "2001-02-04 h04", "J0", "J2451187.5", "J2451187+02", "J2451187 04:05:06",
	"2001-09-22T18:19:20", "2000-03-15 08:14:01 GMT+8", "2000-03-15 13:14:02 GMT-1", "2000-03-15 12:14:03 GMT-2", "2000-03-15 03:14:04 PST+8", "2000-03-15 02:14:05 MST+7:00", "2007-12-09 02:00:00+02 BC", "99-01-08", "99-08-Jan", "99-08 Jan", "08 Jan 99", "08 99 Jan", "1999 Jan 08", "1999 08 Jan", "Jan 08 99", "99 Jan 08", "8 Jan 1999 BC", "1999-01-08 bc ad", "1999-01-08 on", "at 1999-01-08",
	"2011-03-13 02:30:00 America/New_York", "2011-11-06 01:30:00 America/New_York", "2011-03-13 02:30:00", "2011-11-06 01:30:00", "2011-03-27 01:30", "2011-10-30 01:30", "1800-01-01 12:00", "1883-11-18 12:03:58", "2500-07-01 12:00", "2037-07-01", "2038-01-19 03:14:08", "9999-07-01 00:00", "99999-07-01 12:00", "1911-01-01 00:00:00 America/New_York", "1941-12-07 07:55 HST", "4714-11-24 00:00 BC", "4713-01-01 BC",
	"", " ", "x", "2000", "2000-01", "01-01", "10:11", "10:11:12", "2000-01-01 10", "2000-01-01 1011", "2000-01-01 101112", "2000-01-01 10:11:12:13", "2000-01-01 10:11.5", "2000-01-01 10.5", "2000-01-01 2000-01-02", "2000-1-1", "2000-1", "1-1-1", "1-1-2000", "2000--01-01", "2000/01/01", "2000.01.01", "1.1.2000", "13.1.2000", "1.13.2000", "2000-01-01x", "2000-001", "2000 001", "2000.366", "2001.366", "2000.367",
	"2000-01-01 00:00:00.0000005", "2000-01-01 00:00:00.0000015", "2000-01-01 00:00:00.5", "1999-12-31 23:59:59.9999999", "1969-12-31 23:59:59.99999", "2000-01-01 00:00:00,5", "2000-01-01 -08", "2000-01-01+02", "2000-01-01 +02:00", "invalid", "undefined", "current", "j", "2000-01-01 j", "2000-01-01 t", "2000-01-01 t t", "t10:11", "2000-01-01 y", "2000-01-01 m 5", "jan", "monday", "Monday 2000-01-01", "2000-01-01 Monday", "Sept 1 2000", "Septe 1 2000", "2000-Sept-01",
	"12/31/1999", "31/12/1999", "1999/31/12", "2000-01-01 00:00:00 <+03>-3", "2000-01-01 00:00:00 UTC+3", "2000-01-01 00:00:00 foo+3", "2000-01-01 00:00:00 America/Port_of_Spain", "2000-01-01 00:00:00 us/east-indiana", "2000-01-01 00:00:00 gb", "2000-01-01 00:00:00 etc/gmt+3", "2000-01-01 00:00:00 W-SU", "2000-01-01 00:00:00 America/Argentina/Buenos_Aires",
	"2000-07-01 00:00:00 ART", "2000-07-01 00:00:00 NOVST", "1975-07-01 00:00:00 VET", "2000-01-01 00:00:00 CLT", "2000-01-01 00:00:00 EAST", "2016-07-01 VET", "1890-01-01 MSK", "123456-01-01", "1234567890-01-01", "99999999999-01-01", "2000-99999999999-01",
	strings.Repeat("1", 200), "2000-01-01" + strings.Repeat(" ", 300), strings.Repeat("1 ", 30),
}

var timeInputs = []string{
	"04:05:06.789", "04:05:06", "04:05", "040506", "0405", "04:05 AM", "04:05 PM", "4:5", "04:05:06.789-8", "04:05:06-08:00", "04:05-08:00", "040506-08", "04:05:06 PST", "04:05:06 America/New_York", "2003-04-12 04:05:06 America/New_York", "24:00:00", "24:00:01", "24:00:00.000001", "23:59:60", "23:59:60.5", "23:59:59.9999999", "00:00:00.0000005", "25:00", "12:60", "12:00:61", "-1:00", "allballs", "zulu", "z", "now", "today",
	"infinity", "", "12", "1", "123", "12345", "123456.5", "12.5", "12:30.5", "t040506", "T04:05:06", "h04mm05s06", "h04 mm05 s06.5", "12 PM", "13:00 PM", "0:00 PM", "04:05:06 UTC", "04:05:06 MSK", "04:05:06 EST5EDT", "2000-01-01 04:05:06", "2000-01-01 04:05", "04:05:06 2000-01-01", "04:05:06+16", "04:05:06+1:60", "04:05:06 dst", "04:05:06 PST dst", "J2451187 04:05:06", "04:05:06.789.1", "1:2:3:4", "04:05:06 AM PM", "04:05:06.12345678901234567890",
}

var intervalInputs = []string{
	"1 year 2 mons -3 days 04:05:06.789", "1 day", "1 days", "-1 day", "+1 day", "1 day ago", "1 year 2 months 3 days 4 hours 5 minutes 6 seconds", "@ 1 minute", "@ 1 hour ago", "1-2", "-1-2", "1-12", "1-2 3", "1-2 3 4:05:06", "+1-2 -3 +4:05:06", "-1-2 +3 -4:05:06", "3 4:05:06", "-3 4:05:06", "1:00", "1:30:15.5", "-1:30", "-00:00:01", "+1:30", "100:00:00", "P1Y2M3DT4H5M6S", "P1Y2M3W4D", "P0001-02-03T04:05:06", "P00010203T040506", "PT0S", "P", "PT", "P1.5Y", "P1.5M", "P1.5D", "PT1.5H", "PT-1.5S",
	"P-1Y-2M+3D", "P1Y T1H", "P2001", "P2001-2", "P1-2-3T", "P1-2-3T4:5", "P1-2-3T4:5:6:7", "P20010203", "PT040506", "PT0405", "PT4:5.5", "P1Y1-2", "P1e2D", "P1000000000000000D", "PT1e15S", "PT1e16S", "p1d", "P1S", "PT1D",
	"1.5 years", "1.5 months", "1.5 weeks", "1.5 days", "1.5 hours", "1.5 minutes", "1.5 seconds", "0.1 millisecond", "1.5 microseconds", "1 decade", "1 century", "1 millennium", "1.23 decades", "2 centuries", "-1.5 days", "0.0000005 seconds", "0.0000015 s", "1 microsecond", "1 us", "1 ms", "1 msec", "12 mons", "14 months", "-14 mons 3 days", "1 mon -1 day", "-1 mon +1 day", "1 year -1 day 1 hour -1 second", "-1 year 1 day", "1 day -00:00:00.5", "-1 day 00:00:00.5",
	"2147483647 days", "2147483648 days", "-2147483648 days", "-2147483649 days", "2147483647 months", "2147483648 months", "178956970 years", "178956971 years", "-178956970 years", "178956970 years 8 mons", "9223372036854775807 us", "9223372036854775808 us", "-9223372036854775808 us", "2562047788 hours", "2562047789 hours", "2562047788:00:54.775807", "2562047788:00:54.775808", "-2562047788:00:54.775808", "1 quarter", "1 timezone", "1", "-1", "1.5", "1 2", "1 2 3", "1 day 1", "1 day 1 day", "1:00 1:00", "1 hour 1:00", "day", "days 1", "year month", "ago", "1 ago day", "1 day ago ago", "ago 1 day",
	"infinity", "-infinity", "epoch", "now", "today", "", " ", "x", "1 x", "1 day x", "1 year 1 y", "1 h 2 m 3 s", "1h2m3s", "1y2mon", "1 fortnight", "1 dec", "5 c", "1 mil", "1 w 2 d", "1 week 1 day", "1 day 25:00", "1 day 24:60", "0", "0 days", "-0:00:00.000001", "4:05.5", "4:05:06.7", "1 2:03", "1 +2:03", "-1 +2:03", "1 -2:03", "- 1 day", "-1 2 years", "1.5.5 days", "1 d 1 s ago", "1 month ago 1 day", "1 at 2 days", "1 on", "1970-01-01", "1-1-1", "12:34:56:78", "1e5 days", "0x1 day", "999999999999999999999 days", "1 microseconds", "1 microsecondsx", "1 milliseconds", "1 millisecond 1 microsecond 1 second",
	"5 days 1.5 hours 3", "1 month 1.5", "-1.1 months", "0.99999999999 days", "1.999999999 years", "365 days 5:48:46", "1 mons 1 months",
}

func TestDatesReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 6
	in := withMutants(dateInputs, 1200, "0123456789-/:. +jantzbcTpm", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 500 {
		in = append(in, fmt.Sprintf("%d-%02d-%02d %02d:%02d:%02d.%06d", 1+rng.IntN(3000), 1+rng.IntN(12), 1+rng.IntN(31), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1_000_000)))
	}
	for i, p := range sessions(t) {
		if i == 1 {
			in = in[:len(dateInputs)+200] // mutants meet the same code under all settings
		}
		note := fmt.Sprintf("seed %d, %s %s %s", seed, p.settings.DateStyle, p.settings.DateOrder, p.settings.Location)
		for _, k := range []tailrace.Kind{tailrace.KindDate, tailrace.KindTimestamp, tailrace.KindTimestamptz} {
			p.compare(t, typ(k), in, note)
		}
		p.compare(t, mod(tailrace.KindTimestamp, 0), dateInputs, note)
		p.compare(t, mod(tailrace.KindTimestamptz, 3), dateInputs, note)
	}
}

func TestTimesReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 7
	in := withMutants(append(timeInputs, dateInputs...), 1000, "0123456789-/:. +jantzbcTpmhs", seed)
	for _, p := range sessions(t)[:3] {
		note := fmt.Sprintf("seed %d, %s", seed, p.settings.Location)
		p.compare(t, typ(tailrace.KindTime), in, note)
		p.compare(t, mod(tailrace.KindTime, 2), timeInputs, note)
	}
}

// intervalMod is the modifier of an interval with the given fields and precision.
func intervalMod(units, precision int32) tailrace.Type {
	return mod(tailrace.KindInterval, units<<16|precision)
}

func TestIntervalsReadAndPrintAsInPostgreSQL(t *testing.T) {
	const seed = 8
	in := withMutants(intervalInputs, 1000, "0123456789-:. +PTYMDHSdayhourmonsec", seed)
	for i, p := range sessions(t) {
		if i == 1 {
			in = in[:len(intervalInputs)+200]
		}
		note := fmt.Sprintf("seed %d, %s", seed, p.settings.IntervalStyle)
		p.compare(t, typ(tailrace.KindInterval), in, note)
		for _, units := range []int32{
			keepYear, keepMonth, keepYear | keepMonth, keepDay, keepHour, keepDay | keepHour, keepMinute, keepHour | keepMinute, keepDay | keepHour | keepMinute, keepSecond,
			keepMinute | keepSecond, keepHour | keepMinute | keepSecond, keepDay | keepHour | keepMinute | keepSecond,
		} {
			p.compare(t, intervalMod(units, fullPrecision), intervalInputs, note)
		}
		p.compare(t, intervalMod(keepAll, 2), intervalInputs, note)
	}
}
