import { DTYPES } from '../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../tensor/elements.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { isInMain, type Runner, tensorsMade } from './meeting.ts'
import type { Pair } from './pairs.ts'
import type { MadeValue } from './side.ts'

/** What tells a value from others, whatever its name and the order of its axes. */
interface Fingerprint {
  /** Dims other than 1, ascending. */
  readonly dims: string
  /** Largest magnitude. */
  readonly scale: number
  /** Least, greatest, mean, mean magnitude, roots of the mean square and of the mean cube: free of the order. */
  readonly moments: readonly number[]
}

const MIN_ELEMENTS = 24
/** Elements that are looked at to see whether they differ from each other, and how many must. */
const LOOKED_AT = 512
const MIN_DISTINCT = 16
/** Integers in a narrower range are counts, positions and flags, which many values share. */
const MIN_RANGE = 1000
/** Part of the largest magnitude by which the moments of one value may differ in two runs. */
const TOLERANCE = 2e-4

/** The fingerprint of a tensor; undefined where it says next to nothing, as of constants, counts and small integers. */
export function fingerprintOf(tensor: Tensor): Fingerprint | undefined {
  const { kind } = DTYPES[tensor.type]
  if (kind === 'string' || kind === 'complex' || kind === 'bool' || tensor.size < MIN_ELEMENTS) return undefined
  const numbers = toDoubles(tensor)
  let [min, max, sum, sizes, squares, cubes] = [Infinity, -Infinity, 0, 0, 0, 0]
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number < min) min = number
    if (number > max) max = number
    sum += number
    sizes += Math.abs(number)
    squares += number * number
    cubes += number * number * number
  }
  const scale = Math.max(Math.abs(min), Math.abs(max))
  // NaN anywhere makes a sum of NaN.
  if (!Number.isFinite(cubes) || scale === 0 || isPlain(numbers)) return undefined
  if (kind !== 'float' && max - min < MIN_RANGE) return undefined
  const { length } = numbers
  const moments = [min, max, sum / length, sizes / length, Math.sqrt(squares / length), Math.cbrt(cubes / length)]
  const dims = tensor.dims.filter(dim => dim !== 1).sort((a, b) => a - b)
  return { dims: dims.join(), scale, moments }
}

/** Few distinct elements, or steps of one size, as positions have. */
function isPlain(numbers: Numbers): boolean {
  const stride = Math.max(1, Math.floor(numbers.length / LOOKED_AT))
  const distinct = new Set<number>()
  for (let i = 0; i < numbers.length; i += stride) distinct.add(numbers[i])
  if (distinct.size < MIN_DISTINCT) return true
  const step = numbers[1] - numbers[0]
  for (let i = 2; i < Math.min(numbers.length, LOOKED_AT); i++)
    if (Math.abs(numbers[i] - numbers[i - 1] - step) > 1e-6 * Math.abs(numbers[i])) return false
  return true
}

function areAlike(a: Fingerprint, b: Fingerprint): boolean {
  if (a.dims !== b.dims) return false
  const tolerance = TOLERANCE * Math.max(a.scale, b.scale)
  return a.moments.every((moment, i) => Math.abs(moment - b.moments[i]) <= tolerance)
}

interface Printed {
  readonly value: MadeValue
  readonly print: Fingerprint
}

/** Runs a model and takes the fingerprints of the values that have no counterpart yet. */
async function printsOf(runner: Runner, taken: ReadonlySet<MadeValue>): Promise<Printed[]> {
  const prints: Printed[] = []
  const run = runner.walk()
  try {
    for (let step = await run.next(); !step.done; step = await run.next()) {
      if (!isInMain(step.value.node)) continue
      for (const [value, tensor] of tensorsMade(runner.side, step.value)) {
        const print = taken.has(value) ? undefined : fingerprintOf(tensor)
        if (print) prints.push({ value, print })
      }
    }
  } finally {
    await run.return(undefined as never)
  }
  return prints
}

/**
 * Pairs values by what they are on the inputs of the comparison. A value is paired only where nothing else is like it;
 * of several alike, such as what a Reshape is given and makes, the first of both.
 */
export async function pairByValue([a, b]: readonly [Runner, Runner], known: readonly Pair[]): Promise<Pair[]> {
  const left = await printsOf(a, new Set(known.map(pair => pair.a)))
  const right = await printsOf(b, new Set(known.map(pair => pair.b)))
  const byDims = new Map<string, Printed[]>()
  for (const printed of right) {
    const group = byDims.get(printed.print.dims)
    if (group) group.push(printed)
    else byDims.set(printed.print.dims, [printed])
  }
  const pairs: Pair[] = []
  const used = new Set<MadeValue>()
  for (const { value, print } of left) {
    const alike = (byDims.get(print.dims) ?? []).filter(other => areAlike(print, other.print))
    // The likeness of numbers is not transitive: all that is like the first must be like one another.
    const twin = alike[0] && alike.every(other => areAlike(alike[0].print, other.print)) ? alike[0].value : undefined
    if (twin === undefined || used.has(twin)) continue
    used.add(twin)
    pairs.push({ a: value, b: twin, by: 'value' })
  }
  return pairs
}
