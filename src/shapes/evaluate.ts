import type { Dim } from './dim.ts'
import type { Atom, Int, Operation } from './sym.ts'

/** Sizes of atoms, by key. */
export type Sizes = ReadonlyMap<string, number>

/**
 * The number that a dim is where atoms have sizes; undefined where one of them has none, or where the number is not
 * exact in double precision.
 */
export function evaluateDim(dim: Dim, sizes: Sizes): number | undefined {
  if (typeof dim === 'number') return dim
  let sum = 0
  for (const { coefficient, atoms } of dim.terms) {
    let product = Number(coefficient)
    for (const atom of atoms) {
      const size = sizeOf(atom, sizes)
      if (size === undefined) return undefined
      product *= size
    }
    sum += product
  }
  return Number.isSafeInteger(sum) ? sum : undefined
}

const evaluateInt = (value: Int, sizes: Sizes): number | undefined =>
  typeof value === 'bigint' ? Number(value) : evaluateDim(value, sizes)

function sizeOf({ key, made }: Atom, sizes: Sizes): number | undefined {
  const known = sizes.get(key)
  if (known !== undefined || made === undefined) return known
  const a = evaluateInt(made.a, sizes)
  const b = evaluateInt(made.b, sizes)
  return a === undefined || b === undefined ? undefined : COMPUTE[made.by](a, b)
}

const COMPUTE: Readonly<Record<Operation, (a: number, b: number) => number | undefined>> = {
  floor: (a, b) => (b === 0 ? undefined : Math.floor(a / b)),
  trunc: (a, b) => (b === 0 ? undefined : Math.trunc(a / b)),
  mod: (a, b) => (b === 0 ? undefined : a - Math.floor(a / b) * b),
  min: Math.min,
  max: Math.max,
  broadcast: (a, b) => (a === 1 ? b : b === 1 || a === b ? a : undefined)
}
