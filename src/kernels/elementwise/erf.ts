/** Distance between the points around which {@link erf} is a Taylor polynomial. */
const STEP = 1 / 16
const POINTS = 97
/** At the last point, 6, erf is 1 in double precision. */
const LIMIT = STEP * (POINTS - 1)
const DEGREE = 10
const TERMS = DEGREE + 1
/** Below this erf equals its tangent at 0 in double precision. */
const LINEAR = 2 ** -28
const SLOPE = 2 / Math.sqrt(Math.PI)

let coefficients: Float64Array | undefined

/** The error function `2/√π ∫₀ˣ exp(-t²) dt`, to a few units in the last place of a double. */
export function erf(x: number): number {
  const magnitude = Math.abs(x)
  if (magnitude < LINEAR) return SLOPE * x
  if (!(magnitude < LIMIT)) return x > 0 ? 1 : x < 0 ? -1 : NaN
  coefficients ??= taylorCoefficients()
  const nearest = Math.trunc(magnitude / STEP + 0.5)
  const offset = magnitude - nearest * STEP
  const first = nearest * TERMS
  let sum = coefficients[first + DEGREE]
  for (let i = first + DEGREE - 1; i >= first; i--) sum = sum * offset + coefficients[i]
  return x < 0 ? -sum : sum
}

/** Taylor coefficients of erf around multiples of {@link STEP}, {@link TERMS} for each. */
function taylorCoefficients(): Float64Array {
  const around = Array.from({ length: POINTS }, (_, point) => derivativeSeries(point * STEP))
  const table = new Float64Array(POINTS * TERMS)
  around.forEach((series, point) => table.set(series.slice(0, TERMS), point * TERMS))
  // Values at the points are sums of the differences between points: from 0 up where erf is small, from 1 down where it
  // is close to 1, so that no digits are lost.
  const steps = around.map(series => series.reduceRight((sum, coefficient) => (sum + coefficient) * STEP, 0) / STEP)
  let below = 0
  for (let point = 0; point * STEP <= 0.5; point++) {
    table[point * TERMS] = below
    below += steps[point]
  }
  let missing = 0
  for (let point = POINTS - 1; point * STEP > 0.5; point--) {
    table[point * TERMS] = 1 - missing
    missing += steps[point - 1]
  }
  return table
}

/**
 * Taylor coefficients of `erf(c + h) - erf(c)` in h. The derivative `g = 2/√π exp(-x²)` satisfies `g' = -2xg`, which
 * gives a recurrence for its coefficients; integrating them term by term gives those of erf.
 */
function derivativeSeries(center: number): number[] {
  const series = [0]
  let before = 0
  let current = SLOPE * Math.exp(-center * center)
  for (let k = 0; k < 2 * DEGREE; k++) {
    series.push(current / (k + 1))
    const next = (-2 / (k + 1)) * (center * current + before)
    before = current
    current = next
  }
  return series
}
