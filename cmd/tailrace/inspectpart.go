package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"tailrace/server"
)

// showPart prints a part: what it is, its columns, and each stripe's chunks.
func showPart(w io.Writer, p *server.PartExtent) {
	fmt.Fprintf(w, "\nPART %s\n", p.Name)
	fmt.Fprintf(w, "rows\t%d, sum of diffs %d\nsize\t%s in %d stripes\nhash\t%s\n", p.Rows, p.SumDiff, bytesText(p.Bytes), len(p.Stripes), p.Hash)
	fmt.Fprintf(w, "times\t%d to %d, plus the base of the reference\n", p.MinTime, p.MaxTime)
	fmt.Fprintf(w, "written with\tstripes of %d rows or %s, pages of %d rows, %d values a sample, symbol tables that save %d %%\n",
		p.Settings.StripeRows, bytesText(int64(p.Settings.StripeBytes)), p.Settings.PageRows, p.Settings.SampleValues, p.Settings.FSSTMinGainPercent)
	fmt.Fprintln(w, "\n  column\tid\ttype\t\traw\tstored\tfilter\tnulls\tencodings\tsha256")
	for i := range p.Columns {
		c := &p.Columns[i]
		var more []string
		if c.Key {
			more = append(more, "key")
		}
		if c.NotNull {
			more = append(more, "not null")
		}
		fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", c.Name, c.ID, c.Type, strings.Join(more, ", "), bytesText(c.Raw), bytesText(c.Bytes), sizeOrDash(c.FilterBytes), c.Nulls,
			strings.Join(c.Encodings, " "), c.SHA256[:16])
	}
	for i := range p.Stripes {
		s := &p.Stripes[i]
		fmt.Fprintf(w, "\nstripe %d: %d rows in %d page groups, %s at byte %d\n", i, s.Rows, s.PageGroups, bytesText(s.Bytes), s.Offset)
		fmt.Fprintln(w, "  chunk\tencodings of pages\tfront\tcodec\traw\tstored\tfilter\tnulls\tdistinct\tsum\tmin\tmax")
		for j := range s.Chunks {
			k := &s.Chunks[j]
			var trees []string
			for n, tree := range k.Encodings {
				trees = append(trees, fmt.Sprintf("%d %s", k.EncodingPages[n], tree))
			}
			codec := k.Codec
			if k.Compressed > 0 {
				codec = fmt.Sprintf("%s %d/%d", k.Codec, k.Compressed, k.Pages)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t~%d\t%s\t%s\t%s\n", k.Column, strings.Join(trees, ", "), cmp.Or(k.Front, "-"), codec, bytesText(k.Raw), bytesText(k.Bytes),
				sizeOrDash(k.FilterBytes), k.Nulls, k.Distinct, cmp.Or(k.Sum, "-"), shown(k.MinValue), shown(k.MaxValue))
		}
	}
}

func sizeOrDash(n int64) string {
	if n == 0 {
		return "-"
	}
	return bytesText(n)
}

// shownRunes is how much of a value a table shows.
const shownRunes = 32

// shown is a value in a cell of a table.
func shown(value string) string {
	value = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, value)
	if runes := []rune(value); len(runes) > shownRunes {
		value = string(runes[:shownRunes]) + "..."
	}
	return cmp.Or(value, "-")
}

// showDamage lists what is not as it was written.
func showDamage(w io.Writer, damage []string) {
	for _, d := range damage {
		fmt.Fprintf(w, "DAMAGE  %s\n", d)
	}
}
