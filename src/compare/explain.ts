import type { Call } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { product, type Tensor, withDims } from '../tensor/tensor.ts'
import { areIdentical, type Distance, measure } from './measure.ts'
import { constantsOf } from './pairs.ts'
import { permuted } from './permute.ts'
import type { Side } from './side.ts'

/**
 * How two nodes that should compute the same differ in what the files say of them: their parameters and constants. Each
 * line is one difference; none where the files say the same.
 */
export function explain(a: Side, callA: Call, b: Side, callB: Call): string[] {
  if (callA.op !== callB.op) {
    const lines = explainBiased(a, callA, b, callB) ?? explainBiased(b, callB, a, callA, true) ?? []
    return lines.length > 0 ? lines : [`operator ${callA.node.type} and ${callB.node.type}`]
  }
  return [
    ...parametersApart(callA, callB).map(({ name, a: x = 'nothing', b: y = 'nothing' }) => `${name} ${x} and ${y}`),
    ...constantsApart(constantsOf(a, callA), constantsOf(b, callB), callA, callB).map(
      ({ name, how }) => `its constant ${name} ${how}`
    )
  ]
}

/** Where one model adds as a bias what the other has in the operator itself: the operators, then the biases. */
function explainBiased(a: Side, added: Call, b: Side, call: Call, isSecond = false): string[] | undefined {
  if (added.op.name !== 'Add') return undefined
  const constants = constantsOf(a, added)
  const at = constants.findIndex(one => one !== undefined)
  const maker = at < 0 ? undefined : a.calls.find(({ outputs }) => outputs.includes(added.inputs[1 - at]))
  if (maker?.op !== call.op) return undefined
  const operand = call.operands.find(({ name }) => name === 'bias' || name === 'c')
  const own = operand && constantsOf(b, call)[operand.index]
  const biases = isSecond ? [own, constants[at]] : [constants[at], own]
  const bias = constantApart('bias', biases[0], biases[1], false)
  return [
    ...(isSecond ? explain(b, call, a, maker) : explain(a, maker, b, call)),
    ...bias.map(({ name, how }) => `its constant ${name} ${how}`)
  ]
}

/** A parameter that two calls of one operator have otherwise. */
export interface ParameterApart {
  readonly name: string
  /** Absent where the file does not say it. */
  readonly a?: string
  readonly b?: string
}

/** What two calls of one operator say otherwise. */
export function parametersApart({ node, known: a }: Call, { node: other, known: b }: Call): ParameterApart[] {
  // Across dialects, what one says in an attribute the other may say elsewhere.
  const isOne = node.dialect === other.dialect
  return Object.keys(a).flatMap((name): ParameterApart[] => {
    const [x, y] = [text(a[name]), text(b[name])]
    if (x === y) return []
    if (x === undefined || y === undefined) {
      if (!isOne || isUsual(name, a[name] ?? b[name])) return []
      const [shown] = shortened(x ?? y ?? '', '')
      return [{ name, ...(x === undefined ? { b: shown } : { a: shown }) }]
    }
    const [shownX, shownY] = shortened(x, y)
    return [{ name, a: shownX, b: shownY }]
  })
}

/** Numbers that repeat what an operator takes where it is given none: no padding, and steps of one. */
const USUAL: Readonly<Record<string, number>> = { begin: 0, end: 0, outputPadding: 0, strides: 1, dilations: 1 }

function isUsual(name: string, parameter: unknown): boolean {
  // The kernel is that of the weights.
  if (name === 'kernelShape') return true
  if (!Array.isArray(parameter)) return false
  const numbers = parameter.map(Number)
  // Axes are reversed.
  if (name === 'order') return numbers.every((axis, i) => axis === numbers.length - 1 - i)
  return Object.hasOwn(USUAL, name) && numbers.every(number => number === USUAL[name])
}

/** A parameter or attribute as JSON. */
export const text = (parameter: unknown): string | undefined => JSON.stringify(parameter, (_, item) => plain(item))

/** What JSON has no form for, in one that tells it from others. */
function plain(item: unknown): unknown {
  if (typeof item === 'bigint' || (typeof item === 'number' && !Number.isFinite(item))) return String(item)
  if (item instanceof Map || item instanceof Set) return [...(item as Iterable<unknown>)]
  return ArrayBuffer.isView(item) && 'length' in item ? Array.from(item as unknown as ArrayLike<unknown>) : item
}

/** Characters of a text that are shown, and those of them before where it parts from another. */
const MAX_SHOWN = 80
const SHOWN_BEFORE = 30

/** Two texts that differ, cut to where they do. */
export function shortened(a: string, b: string): readonly [string, string] {
  let at = 0
  while (a[at] === b[at]) at++
  const start = Math.max(a.length, b.length) <= MAX_SHOWN ? 0 : Math.max(0, at - SHOWN_BEFORE)
  const cut = (of: string): string =>
    `${start > 0 ? '…' : ''}${of.slice(start, start + MAX_SHOWN)}${of.length > start + MAX_SHOWN ? '…' : ''}`
  return [cut(a), cut(b)]
}

/** Bytes of a constant that is measured: an explanation must not take longer than what it explains. */
const MAX_BYTES = 1 << 26

/** A constant of two calls that differs, by the name of the operand, and how. */
export interface ConstantApart {
  readonly name: string
  readonly how: string
}

const NAMELESS = { operands: [], known: {} }

/** The constants that two calls of one operator read and that differ. */
export function constantsApart(
  a: readonly (Constant | undefined)[],
  b: readonly (Constant | undefined)[],
  { operands, known }: Pick<Call, 'operands' | 'known'> = NAMELESS,
  { known: other }: Pick<Call, 'known'> = NAMELESS
): ConstantApart[] {
  const isTurned = Object.keys(known).some(name => /^transpose/i.test(name) && known[name] !== other[name])
  return a.flatMap((one, i) =>
    constantApart(operands.find(({ index }) => index === i)?.name ?? `input ${i}`, one, b[i], isTurned)
  )
}

/** How a constant and its twin differ: one line, or none. */
function constantApart(
  name: string,
  one: Constant | undefined,
  twin: Constant | undefined,
  isTurned: boolean
): ConstantApart[] {
  if (one === undefined || twin === undefined) return []
  if (product(one.dims) !== product(twin.dims))
    return [{ name, how: `has dims [${one.dims.join(', ')}] and [${twin.dims.join(', ')}]` }]
  if (one.type === 'string' || twin.type === 'string') return textsApart(name, one, twin)
  // Of two that one model has turned, bytes say nothing.
  if (one.byteLength > MAX_BYTES) return isTurned ? [] : largeApart(name, one, twin)
  const { maxAbsolute, maxRelative, differing, elements, sqnr } = distanceOf(one.read(), likeFirst(one, twin), isTurned)
  if (maxAbsolute === 0) return []
  const far = `by up to ${short(maxAbsolute)} (${short(100 * maxRelative)} %, ${short(sqnr)} dB)`
  return [{ name, how: `differs in ${differing} of ${elements} elements, ${far}` }]
}

function textsApart(name: string, one: Constant, twin: Constant): ConstantApart[] {
  if (one.type !== twin.type) return [{ name, how: `has type ${one.type} and ${twin.type}` }]
  const { differing, elements, worst } = measure(one.read(), twin.read(), EXACT)
  if (differing === 0) return []
  const [x, y] = shortened(...(worst!.map(text => JSON.stringify(text)) as [string, string]))
  return [{ name, how: `differs in ${differing} of ${elements} elements, the first of them ${x} and ${y}` }]
}

/** Of constants that are too large to be measured, whether their bytes differ. */
function largeApart(name: string, one: Constant, twin: Constant): ConstantApart[] {
  if (one.type !== twin.type)
    return [{ name, how: `has type ${one.type} and ${twin.type}, and is too large to measure` }]
  return areIdentical(one.read(), twin.read()) ? [] : [{ name, how: 'differs, and is too large to measure' }]
}

/** The elements of a twin in the dims of the first, where these have other ones of 1. */
function likeFirst({ dims }: Constant, twin: Constant): Tensor {
  const wide = (of: readonly number[]): string => of.filter(dim => dim !== 1).join()
  return wide(dims) === wide(twin.dims) ? withDims(twin.read(), dims) : twin.read()
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
