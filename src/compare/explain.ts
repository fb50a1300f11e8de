import type { Call } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { product } from '../tensor/tensor.ts'
import { measure } from './measure.ts'
import { constantsOf } from './pairs.ts'
import type { Side } from './side.ts'

/**
 * How two nodes that should compute the same differ in what the files say of them: their parameters and constants. Each
 * line is one difference; none where the files say the same.
 */
export function explain(a: Side, callA: Call, b: Side, callB: Call): string[] {
  if (callA.op !== callB.op) return [`operator ${callA.node.type} and ${callB.node.type}`]
  return [...parametersApart(callA, callB), ...constantsApart(constantsOf(a, callA), constantsOf(b, callB), callA)]
}

function parametersApart({ known: a }: Call, { known: b }: Call): string[] {
  return Object.keys(a).flatMap(name => {
    const [x, y] = [text(a[name]), text(b[name])]
    return x === y || x === undefined || y === undefined ? [] : [`${name} ${x} and ${y}`]
  })
}

const text = (parameter: unknown): string | undefined =>
  JSON.stringify(parameter, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item))?.slice(0, 80)

/** Bytes of a constant that are compared: an explanation must not take longer than what it explains. */
const MAX_BYTES = 1 << 26

function constantsApart(
  a: readonly (Constant | undefined)[],
  b: readonly (Constant | undefined)[],
  { operands }: Call
): string[] {
  return a.flatMap((one, i) => {
    const other = b[i]
    if (one === undefined || other === undefined) return []
    const name = operands.find(({ index }) => index === i)?.name ?? `input ${i}`
    if (product(one.dims) !== product(other.dims))
      return [`its constant ${name} has dims [${one.dims.join(', ')}] and [${other.dims.join(', ')}]`]
    if (one.byteLength > MAX_BYTES || one.type === 'string') return []
    const { maxAbsolute, maxRelative, differing, elements, sqnr } = measure(one.read(), other.read(), {
      rtol: 0,
      atol: 0
    })
    if (maxAbsolute === 0) return []
    return [
      `its constant ${name} differs in ${differing} of ${elements} elements, by up to ${short(maxAbsolute)} ` +
        `(${short(100 * maxRelative)} %, ${short(sqnr)} dB)`
    ]
  })
}

const short = (number: number): string => String(Number(number.toPrecision(3)))
