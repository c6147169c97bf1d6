package insight

import (
	"math"
	"math/rand/v2"
	"slices"
)

// numbers sums up numbers. Products and sums are rounded one by one,
// by float64(…): a processor that fuses them would give another last digit.
type numbers struct {
	count    int
	min, max float64
	sum      sum
}

func (n *numbers) add(x float64) {
	if n.count == 0 || x < n.min {
		n.min = x
	}
	if n.count == 0 || x > n.max {
		n.max = x
	}
	n.count++
	n.sum.add(x)
}

// sum is Neumaier's compensated sum: exact where a plain one would drift.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	t := s.high + x
	if math.Abs(s.high) >= math.Abs(x) {
		s.low += (s.high - t) + x
	} else {
		s.low += (x - t) + s.high
	}
	s.high = t
}

// value is nil where the sum is beyond a float64.
func (s *sum) value() *float64 { return finite(s.high + s.low) }

func (s *sum) mean(count int) *float64 { return finite((s.high + s.low) / float64(count)) }

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// sample keeps all numbers up to a limit, and from there on a uniform sample of them
// (reservoir sampling), drawn from a fixed seed so that the same file gives the same
// result.
type sample struct {
	limit  int
	seen   uint64
	kept   []float64
	random *rand.PCG
}

func (s *sample) add(x float64) {
	s.seen++
	if len(s.kept) < s.limit {
		s.kept = append(s.kept, x)
		return
	}
	if s.random == nil {
		s.random = rand.NewPCG(1, 2)
	}
	if i := s.random.Uint64() % s.seen; i < uint64(len(s.kept)) {
		s.kept[i] = x
	}
}

// Quantiles interpolate linearly between the two nearest numbers: for p of n sorted
// numbers, at position p·(n-1). This is type 7 of Hyndman and Fan, the default of R,
// NumPy and spreadsheets.
type Quantiles struct {
	P05   float64 `json:"p05"`
	P25   float64 `json:"p25"`
	P50   float64 `json:"p50"`
	P75   float64 `json:"p75"`
	P95   float64 `json:"p95"`
	Exact bool    `json:"exact"` // false: of a sample
}

func (s *sample) quantiles() *Quantiles {
	slices.Sort(s.kept)
	q := func(p float64) float64 { return quantile(s.kept, p) }
	return &Quantiles{q(.05), q(.25), q(.5), q(.75), q(.95), s.seen == uint64(len(s.kept))}
}

func quantile(sorted []float64, p float64) float64 {
	at := float64(p * float64(len(sorted)-1))
	i := int(at)
	if i+1 >= len(sorted) || sorted[i] == sorted[i+1] {
		return sorted[i]
	}
	part := at - float64(i)
	return float64(sorted[i]*(1-part)) + float64(sorted[i+1]*part)
}
