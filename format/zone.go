package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones by name on machines that have none
)

// maxZones bounds the remembered zones. There are some 600 names; each costs a few KiB.
const maxZones = 2048

// zones remembers what loadZone found, by lower-case name: loading one reads a file, and a COPY may name a zone in every row. It is shared since
// zones are the same for all. Failures are not kept: they come from anyone's input.
var zones = struct {
	sync.Mutex
	byName map[string]*time.Location
}{byName: map[string]*time.Location{}}

// loadZone finds a time zone by a name in any case, or by a POSIX rule such as EST5EDT or <+03>-3. nil when there is none.
func loadZone(name string) *time.Location {
	key := strings.ToLower(name)
	zones.Lock()
	loc := zones.byName[key]
	zones.Unlock()
	if loc != nil {
		return loc
	}
	for _, spelling := range zoneSpellings(key) {
		found, err := time.LoadLocation(spelling)
		if err == nil {
			loc = found
			break
		}
	}
	if loc == nil {
		loc = posixZone(strings.ToUpper(name))
	}
	if loc == nil {
		return nil
	}
	zones.Lock()
	defer zones.Unlock()
	if len(zones.byName) < maxZones {
		zones.byName[key] = loc
	}
	return loc
}

// zoneSpellings lists how the zone with a lower-case name may be spelled in the database, where case matters.
func zoneSpellings(key string) []string {
	if key == "" || key == "local" || strings.Contains(key, "..") {
		return nil
	}
	if odd, ok := oddZoneNames[key]; ok {
		return []string{odd}
	}
	title := []byte(key)
	for i := range title {
		if i == 0 || strings.IndexByte("/_-+", title[i-1]) >= 0 {
			title[i] = upper(title[i])
		}
	}
	area, _, _ := strings.Cut(string(title), "/")
	etc := area + strings.ToUpper(key[len(area):]) // Etc/GMT+3, Australia/ACT
	return []string{string(title), strings.ToUpper(key), etc}
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// oddZoneNames are the names that no rule spells.
var oddZoneNames = map[string]string{
	"africa/dar_es_salaam": "Africa/Dar_es_Salaam", "africa/el_aaiun": "Africa/El_Aaiun", "america/knox_in": "America/Knox_IN",
	"america/port-au-prince": "America/Port-au-Prince", "america/port_of_spain": "America/Port_of_Spain",
	"america/north_dakota/new_salem": "America/North_Dakota/New_Salem", "antarctica/dumontdurville": "Antarctica/DumontDUrville",
	"antarctica/mcmurdo": "Antarctica/McMurdo", "asia/ust-nera": "Asia/Ust-Nera", "atlantic/jan_mayen": "Atlantic/Jan_Mayen",
	"brazil/denoronha": "Brazil/DeNoronha", "chile/easterisland": "Chile/EasterIsland", "etc/greenwich": "Etc/Greenwich",
	"europe/isle_of_man": "Europe/Isle_of_Man", "gb-eire": "GB-Eire", "mexico/bajanorte": "Mexico/BajaNorte",
	"mexico/bajasur": "Mexico/BajaSur", "nz-chat": "NZ-CHAT", "us/east-indiana": "US/East-Indiana",
	"us/indiana-starke": "US/Indiana-Starke", "us/alaska": "US/Alaska", "us/aleutian": "US/Aleutian", "us/arizona": "US/Arizona",
	"us/central": "US/Central", "us/eastern": "US/Eastern", "us/hawaii": "US/Hawaii", "us/michigan": "US/Michigan",
	"us/mountain": "US/Mountain", "us/pacific": "US/Pacific", "us/samoa": "US/Samoa", "w-su": "W-SU", "etc/zulu": "Etc/Zulu",
	"etc/universal": "Etc/Universal", "localtime": "localtime", "posixrules": "posixrules",
}

// zoneOf makes a zone whose String is name, whose abbreviation is abbrev and whose offset is east seconds; footer gives the rule for summer time.
// time.FixedZone would use one name for both.
func zoneOf(name, abbrev string, east int, footer string) *time.Location {
	block := func(version byte) []byte {
		b := append([]byte("TZif"), version)
		b = append(b, make([]byte, 15)...)
		for _, n := range [...]int{0, 0, 0, 0, 1, len(abbrev) + 1} { // isut, isstd, leap, transitions, types, characters
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		b = binary.BigEndian.AppendUint32(b, uint32(int32(east)))
		b = append(b, 0, 0)
		return append(append(b, abbrev...), 0)
	}
	data := append(block('2'), block('2')...)
	data = append(append(append(data, '\n'), footer...), '\n')
	loc, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil
	}
	return loc
}

// fixedZone is a zone hours east of Greenwich, named as PostgreSQL names it: <+05:30>-05:30.
func fixedZone(east int) *time.Location {
	text := clockText(east)
	sign, back := "+", "-"
	if east < 0 {
		sign, back = "-", "+"
	}
	return zoneOf("<"+sign+text+">"+back+text, sign+text, east, "")
}

func clockText(seconds int) string {
	if seconds < 0 {
		seconds = -seconds
	}
	text := fmt.Sprintf("%02d", seconds/3600)
	if seconds%3600 != 0 {
		text += fmt.Sprintf(":%02d", seconds/60%60)
	}
	if seconds%60 != 0 {
		text += fmt.Sprintf(":%02d", seconds%60)
	}
	return text
}

// zoneAt is the offset east of Greenwich in seconds and the abbreviation in force at a Unix time.
func (s *session) zoneAt(unix int64) (offset int, name string) {
	if unix >= s.zone.from && unix < s.zone.to {
		return s.zone.offset, s.zone.name
	}
	t := time.Unix(unix, 0).In(s.location())
	s.zone.name, s.zone.offset = t.Zone()
	from, to := t.ZoneBounds()
	s.zone.from, s.zone.to = math.MinInt64, math.MaxInt64
	if !from.IsZero() {
		s.zone.from = from.Unix()
	}
	if !to.IsZero() {
		s.zone.to = to.Unix()
	}
	return s.zone.offset, s.zone.name
}

// localOffset is the offset in force when clocks in loc show local, which is that time as if it were UTC, in Unix seconds. A time that a jump
// forward leaves out counts by the offset before the jump; one that a jump back repeats, by the offset after it.
func localOffset(local int64, loc *time.Location) (offset int, unix int64) {
	if loc == time.UTC {
		return 0, local
	}
	t := time.Unix(local-86_400, 0).In(loc)
	_, before := t.Zone()
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return before, local - int64(before)
	}
	_, after := end.Zone()
	boundary, early, late := end.Unix(), local-int64(before), local-int64(after)
	switch {
	case early < boundary && late < boundary:
		return before, early
	case early > boundary && late >= boundary:
		return after, late
	case early > late:
		return before, early
	}
	return after, late
}

// abbreviationOffset is what an abbreviation stands for in loc at a Unix time: its newest meaning until then, else its first one.
func abbreviationOffset(abbrev string, unix int64, loc *time.Location) (offset int, ok bool) {
	const maxSteps = 1000 // more changes than any zone has had
	t := time.Unix(unix, 0).In(loc)
	for u, i := t, 0; i < maxSteps; i++ {
		name, offset := u.Zone()
		if name == abbrev {
			return offset, true
		}
		from, _ := u.ZoneBounds()
		if from.IsZero() {
			break
		}
		u = from.Add(-time.Second)
	}
	for u, i := t, 0; i < maxSteps; i++ {
		_, to := u.ZoneBounds()
		if to.IsZero() || to.Unix() > 1<<32 {
			break
		}
		u = to
		if name, offset := u.Zone(); name == abbrev {
			return offset, true
		}
	}
	return 0, false
}
