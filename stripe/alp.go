package stripe

import "math"

// Floats that were written as decimals are ALP (Afroozeh et al., "ALP: adaptive lossless floating-point compression", 2023): a float x becomes the
// integer d nearest to x 10^e 10^-f, when d 10^f 10^-e is x again to the bit, and is patched when it is not, as are NaN, infinities and -0. With e=14,
// f=12 that holds for nearly all numbers of two decimals, though 10^-14 is not exact. Where it does not hold often enough, the param of the stream
// is 1 and the float d / 10^e: division is exact, for every decimal of 15 digits, but slower.
//
//	e u8, f u8 | stream of the integers | nothing, or two leaves of patches as in SPARSE: the gaps, and the bits of the floats
//
// Each operation is rounded on its own, in 64 bits, and then to a float4 if that is what the column has: float64(x*y) keeps a compiler from fusing
// two, which would give other bits on other machines.

// maxExponent is the most that e and f can be.
const maxExponent = 18

// powers has 10^i; tenths has 10^-i, rounded.
var (
	powers = [maxExponent + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}
	tenths = [maxExponent + 1]float64{
		1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18,
	}
)

// decimalForm is how ALP makes integers of floats.
type decimalForm struct {
	e, f   uint8
	divide bool // then f is 0
}

const (
	// rounder makes the nearest integer of a float: adding it leaves no bits for a fraction.
	rounder = 1<<52 + 1<<51
	// maxRounded bounds the floats for which that is so.
	maxRounded = 1 << 51
	// maxRounded4 bounds the integers of float4s, which are decoded in 32 bits.
	maxRounded4 = 1 << 31
)

// appendALP adds the floats whose bits are v.
func (e *encoder) appendALP(dst []byte, v []int64, width int, plan *intPlan, depth int) ([]byte, bool) {
	l := &e.numbers.levels[depth]
	l.values = append(l.values[:0], v...)
	l.patches.reset()
	plan.form.encode(l.values, &l.patches, width)
	param := uint8(0)
	if plan.form.divide {
		param = 1
	}
	dst, at := openStream(dst, encALP, param, len(v))
	dst = append(dst, plan.form.e, plan.form.f)
	dst = e.appendChild(dst, l.values, width, plan, depth)
	if len(l.patches.gaps) > 0 {
		dst = l.patches.append(dst, width)
	}
	closeStream(dst, at)
	return dst, true
}

// encode turns the bits v of floats of width bytes into integers. Those that are not exact are patched, and become what the one before them is.
func (m decimalForm) encode(v []int64, p *patches, width int) {
	if width == 4 {
		m.encodeFloat4(v, p)
	} else {
		m.encodeFloat8(v, p)
	}
	if len(p.gaps) > 0 && p.gaps[0] == 0 { // those before the first that is exact get its value
		n := 1
		for n < len(p.gaps) && p.gaps[n] == 0 {
			n++
		}
		if n < len(v) {
			fill(v[:n], v[n])
		}
	}
}

// encodeFloat8 is m.integer in a loop, with what does not change taken out of it.
func (m decimalForm) encodeFloat8(v []int64, p *patches) {
	up, down, back, by, last := powers[m.e], tenths[m.f], powers[m.f], tenths[m.e], int64(0)
	for i, bits := range v {
		scaled := float64(float64(math.Float64frombits(uint64(bits))*up) * down)
		d := int64(float64(scaled+rounder) - rounder)
		x := float64(d)
		if m.divide {
			x = float64(x / up)
		} else {
			x = float64(float64(x*back) * by)
		}
		if int64(math.Float64bits(x)) != bits || !(scaled > -maxRounded && scaled < maxRounded) {
			p.add(i, bits)
			d = last
		}
		v[i], last = d, d
	}
}

func (m decimalForm) encodeFloat4(v []int64, p *patches) {
	last := int64(0)
	for i, bits := range v {
		d, ok := m.integer(bits, 4)
		if !ok {
			p.add(i, bits)
			d = last
		}
		v[i], last = d, d
	}
}

// integer is the integer of the float whose bits are given. ok tells whether it stands for every bit of it.
func (m decimalForm) integer(bits int64, width int) (d int64, ok bool) {
	if width == 4 {
		x := float64(math.Float32frombits(uint32(bits)))
		scaled := float64(float64(x*powers[m.e]) * tenths[m.f])
		if !(scaled > -maxRounded4 && scaled < maxRounded4) { // NaN too
			return 0, false
		}
		d = int64(float64(scaled+rounder) - rounder)
		return d, int64(int32(math.Float32bits(float32(m.float(d))))) == bits
	}
	x := math.Float64frombits(uint64(bits))
	scaled := float64(float64(x*powers[m.e]) * tenths[m.f])
	if !(scaled > -maxRounded && scaled < maxRounded) {
		return 0, false
	}
	d = int64(float64(scaled+rounder) - rounder)
	return d, int64(math.Float64bits(m.float(d))) == bits
}

// float is the float of d.
func (m decimalForm) float(d int64) float64 {
	if m.divide {
		return float64(d) / powers[m.e]
	}
	return float64(float64(float64(d)*powers[m.f]) * tenths[m.e])
}

func decodeALP[T integer](d *decoder, dst []T, s stream, depth int) error {
	if len(s.body) < 2 || s.body[0] > maxExponent || s.body[1] > maxExponent || s.param > 1 {
		return corrupt("decimal floats of form %d in %d bytes", s.param, len(s.body))
	}
	m := decimalForm{s.body[0], s.body[1], s.param == 1}
	child, rest, err := cutStream(s.body[2:])
	if err != nil {
		return err
	}
	if err := decodeNode(d, dst, child, depth+1); err != nil {
		return err
	}
	switch dst := any(dst).(type) {
	case []int64:
		m.decodeFloat8(dst)
	case []int32:
		m.decodeFloat4(dst)
	default:
		return corrupt("decimal floats of another width")
	}
	if len(rest) == 0 {
		return nil
	}
	return decodePatches(d, dst, rest, depth)
}

func (m decimalForm) decodeFloat8(v []int64) {
	if m.divide {
		by := powers[m.e]
		for i, d := range v {
			v[i] = int64(math.Float64bits(float64(d) / by))
		}
		return
	}
	up, down := powers[m.f], tenths[m.e]
	for i, d := range v {
		v[i] = int64(math.Float64bits(float64(float64(float64(d)*up) * down)))
	}
}

func (m decimalForm) decodeFloat4(v []int32) {
	if m.divide {
		by := powers[m.e]
		for i, d := range v {
			v[i] = int32(math.Float32bits(float32(float64(d) / by)))
		}
		return
	}
	up, down := powers[m.f], tenths[m.e]
	for i, d := range v {
		v[i] = int32(math.Float32bits(float32(float64(float64(d)*up) * down)))
	}
}
