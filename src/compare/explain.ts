import type { Call } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import { type Distance, measure } from './measure.ts'
import { constantsOf } from './pairs.ts'
import { permuted } from './permute.ts'
import type { Side } from './side.ts'

/**
 * How two nodes that should compute the same differ in what the files say of them: their parameters and constants. Each
 * line is one difference; none where the files say the same.
 */
export function explain(a: Side, callA: Call, b: Side, callB: Call): string[] {
  if (callA.op !== callB.op) return [`operator ${callA.node.type} and ${callB.node.type}`]
  return [
    ...parametersApart(callA, callB).map(({ name, a: x, b: y }) => `${name} ${x} and ${y}`),
    ...constantsApart(constantsOf(a, callA), constantsOf(b, callB), callA, callB).map(
      ({ name, how }) => `its constant ${name} ${how}`
    )
  ]
}

/** A parameter that two calls of one operator have otherwise. */
export interface ParameterApart {
  readonly name: string
  readonly a: string
  readonly b: string
}

/** What two calls of one operator say otherwise. */
export function parametersApart({ known: a }: Call, { known: b }: Call): ParameterApart[] {
  return Object.keys(a).flatMap(name => {
    const [x, y] = [text(a[name]), text(b[name])]
    return x === y || x === undefined || y === undefined ? [] : [{ name, a: x, b: y }]
  })
}

/** A parameter or attribute as JSON, shortened. */
export const text = (parameter: unknown): string | undefined =>
  JSON.stringify(parameter, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item))?.slice(0, 80)

/** Bytes of a constant that are compared: an explanation must not take longer than what it explains. */
const MAX_BYTES = 1 << 26

/** A constant of two calls that differs, by the name of the operand, and how. */
export interface ConstantApart {
  readonly name: string
  readonly how: string
}

/** The constants that two calls of one operator read and that differ. */
export function constantsApart(
  a: readonly (Constant | undefined)[],
  b: readonly (Constant | undefined)[],
  { operands, known }: Call,
  { known: other }: Call
): ConstantApart[] {
  const isTurned = Object.keys(known).some(name => /^transpose/i.test(name) && known[name] !== other[name])
  return a.flatMap((one, i) => {
    const twin = b[i]
    if (one === undefined || twin === undefined) return []
    const name = operands.find(({ index }) => index === i)?.name ?? `input ${i}`
    if (product(one.dims) !== product(twin.dims))
      return [{ name, how: `has dims [${one.dims.join(', ')}] and [${twin.dims.join(', ')}]` }]
    if (one.byteLength > MAX_BYTES || one.type === 'string') return []
    const { maxAbsolute, maxRelative, differing, elements, sqnr } = distanceOf(one.read(), twin.read(), isTurned)
    if (maxAbsolute === 0) return []
    const far = `by up to ${short(maxAbsolute)} (${short(100 * maxRelative)} %, ${short(sqnr)} dB)`
    return [{ name, how: `differs in ${differing} of ${elements} elements, ${far}` }]
  })
}

/** @param mayBeTurned the nodes say otherwise which way round a matrix is: then the nearer way counts */
function distanceOf(a: Tensor, b: Tensor, mayBeTurned: boolean): Distance {
  const asIs = measure(a, b, EXACT)
  if (!mayBeTurned || a.dims.length !== 2 || b.dims.length !== 2 || a.dims[0] !== b.dims[1]) return asIs
  const turned = measure(a, permuted(b, [1, 0]), EXACT)
  return turned.sqnr > asIs.sqnr ? turned : asIs
}

const EXACT = { rtol: 0, atol: 0 }

const short = (number: number): string => String(Number(number.toPrecision(3)))
