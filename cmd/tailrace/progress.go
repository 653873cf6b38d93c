package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows how far a transfer is: a bar on a terminal, else a line at every tenth. Its counts may be added to by several goroutines.
type progress struct {
	verb        string
	total       int64 // in the unit of done; 0: not known
	done        atomic.Int64
	rows, bytes atomic.Int64
	start       time.Time

	to   io.Writer
	next atomic.Int64 // where the next line is due, in the unit of done
	bar  *mpb.Bar     // nil without a terminal
	bars *mpb.Progress
}

// lineEvery is how many bytes make a line when the total is not known; then twice as many, and so on.
const lineEvery = 64 << 20

// newProgress begins to show a transfer whose end is total, 0 when that is not known.
func newProgress(ctx context.Context, to *os.File, verb string, total int64) *progress {
	p := &progress{verb: verb, total: total, start: time.Now(), to: to}
	p.next.Store(p.after(0))
	if !isTerminal(to) {
		return p
	}
	p.bars = mpb.NewWithContext(ctx, mpb.WithOutput(to), mpb.WithWidth(40))
	rates := decor.Any(func(decor.Statistics) string { return " " + p.rates() })
	if total > 0 {
		p.bar = p.bars.AddBar(total, mpb.PrependDecorators(decor.Name(verb+" "), decor.Percentage(decor.WCSyncSpace)),
			mpb.AppendDecorators(rates, decor.Name("  "), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), "")))
	} else {
		p.bar = p.bars.New(0, mpb.SpinnerStyle(), mpb.PrependDecorators(decor.Name(verb+" ")), mpb.AppendDecorators(rates))
	}
	return p
}

// after is where the line is due that follows one at done.
func (p *progress) after(done int64) int64 {
	if p.total == 0 {
		return max(lineEvery, 2*done)
	}
	tenth := max(1, p.total/10)
	return (done/tenth + 1) * tenth
}

// add counts what was done since the last call.
func (p *progress) add(done, rows, bytes int64) {
	p.rows.Add(rows)
	p.bytes.Add(bytes)
	now := p.done.Add(done)
	if p.bar != nil {
		p.bar.SetCurrent(now)
		return
	}
	if next := p.next.Load(); now >= next && p.next.CompareAndSwap(next, p.after(now)) {
		p.line(now)
	}
}

func (p *progress) line(done int64) {
	share, left := "", ""
	if p.total > 0 {
		share = fmt.Sprintf("%3d %%  ", min(100, 100*done/p.total))
		if took := time.Since(p.start); done > 0 && done < p.total {
			left = fmt.Sprintf("  %s left", (time.Duration(float64(took) * float64(p.total-done) / float64(done))).Round(time.Second))
		}
	}
	fmt.Fprintf(p.to, "%s  %s%s%s\n", p.verb, share, p.rates(), left)
}

// rates is what was moved, and how much of it a second.
func (p *progress) rates() string {
	took := max(time.Since(p.start).Seconds(), 1e-3)
	rows, bytes := max(0, p.rows.Load()), p.bytes.Load()
	return fmt.Sprintf("%d rows, %s, %.0f rows/s, %.1f MB/s", rows, bytesText(bytes), float64(rows)/took, float64(bytes)/took/1e6)
}

// end stops showing. It may be called twice.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	p.bar.Abort(p.total == 0)
	p.bars.Wait()
}

// reset begins again.
func (p *progress) reset() {
	p.done.Store(0)
	p.rows.Store(0)
	p.bytes.Store(0)
	p.next.Store(p.after(0))
	if p.bar != nil {
		p.bar.SetCurrent(0)
	}
}
