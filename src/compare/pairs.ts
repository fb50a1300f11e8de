import type { Call } from '../bind/call.ts'
import { fail } from '../errors.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { twinInputs } from './ports.ts'
import { type MadeValue, type Side, valuesOf } from './side.ts'

/** Values of the two models that are held against each other. */
export interface Pair {
  readonly a: MadeValue
  readonly b: MadeValue
  /**
   * Set where neither a name nor the way from the inputs says that they are the same. `value`: they were alike when the
   * models ran, so they are a pair only if they are equal. `structure`: they are computed from such pairs. The axes of
   * either may be in another order.
   */
  readonly by?: 'value' | 'structure'
}

/**
 * Names that come from JavaScript may be an object in place of a Map.
 * @throws NodewiseError `bad-usage`
 */
export function requireNames(option: string, names: unknown): void {
  if (names !== undefined && !(names instanceof Map))
    fail('bad-usage', `\`${option}\` is a Map of names of the one with names of the other`)
}

/** Part of the values below which structure does not tell enough. */
const FEW = 0.9

/**
 * Which values of two models are the same: those that a caller names, those that share a name, and, where next to none
 * does, those that are computed in the same way from the inputs.
 * @param named names of values of `a`, with names of values of `b`
 * @param inputs names of inputs of `a`, with names of inputs of `b`
 */
export function pairsOf(
  a: Side,
  b: Side,
  named: ReadonlyMap<string, string>,
  inputs: ReadonlyMap<string, string> = new Map()
): Pair[] {
  const pairs = pairByName(a, b, named)
  return hasInner(a, pairs) ? pairs : pairByStructure(a, b, pairs, inputs)
}

function hasInner({ model }: Side, pairs: readonly Pair[]): boolean {
  const outputs = new Set(model.graph.outputs.map(({ value }) => value))
  return pairs.some(({ a: { node, output } }) => !outputs.has(node.outputs[output]!))
}

/** Whether names say next to nothing, and the way from the inputs leaves much without a counterpart. */
export function areFew(a: Side, b: Side, pairs: readonly Pair[], named: ReadonlyMap<string, string>): boolean {
  if (hasInner(a, pairByName(a, b, named))) return false
  return pairs.length < FEW * Math.min(valuesOf(a).length, valuesOf(b).length)
}

function pairByName(a: Side, b: Side, named: ReadonlyMap<string, string>): Pair[] {
  const byName = new Map<string, MadeValue[]>()
  for (const value of valuesOf(b))
    for (const name of value.names) byName.set(name, [...(byName.get(name) ?? []), value])
  const taken = new Set<string>()
  const pairs: Pair[] = []
  for (const value of valuesOf(a)) {
    for (const name of value.names) {
      const isBody = value.graphPath !== ''
      // A name may occur in the main graph and in bodies.
      const twin = byName.get(named.get(name) ?? name)?.find(({ graphPath }) => (graphPath !== '') === isBody)
      if (twin === undefined || taken.has(name)) continue
      taken.add(name)
      if (pairs.at(-1)?.a !== value || pairs.at(-1)?.b !== twin) pairs.push({ a: value, b: twin })
    }
  }
  return pairs
}

/**
 * Pairs values of main graphs whose nodes compute the same from paired inputs: the operator and where its operands come
 * from, down to the inputs that get the same. Of values that are alike in this, those whose constants are equal are
 * paired first, the rest in the order of the nodes.
 */
function pairByStructure(a: Side, b: Side, known: readonly Pair[], inputs: ReadonlyMap<string, string>): Pair[] {
  const pairs = [...known]
  const twins = twinInputs(a.model, b.model, inputs)
  const own = a.model.graph.inputs.map(({ value }) => value)
  const given = own.map(value => twins.get(value))
  const [left, right] = [new Set(known.map(pair => pair.a)), new Set(known.map(pair => pair.b))]
  for (const isExact of [true, false]) {
    const waiting = groupsOf(b, isExact, given)
    for (const [key, values] of groupsOf(a, isExact, own)) {
      const twins = (waiting.get(key) ?? []).filter(twin => !right.has(twin))
      const free = values.filter(value => !left.has(value))
      // Without equal constants, one of several alike may be any of them.
      if (!isExact && (free.length !== twins.length || values.length !== waiting.get(key)?.length)) continue
      free.slice(0, twins.length).forEach((value, i) => {
        pairs.push({ a: value, b: twins[i] })
        left.add(value)
        right.add(twins[i])
      })
    }
  }
  return pairs
}

/**
 * Values of the main graph by how they are computed.
 * @param inputs those of the graph, in the order of the first model
 */
function groupsOf(side: Side, isExact: boolean, inputs: readonly (ValueId | undefined)[]): Map<string, MadeValue[]> {
  const { bound, model } = side
  const ways = new Map<ValueId, string>()
  model.graph.inputs.forEach(({ value }, i) => ways.set(value, `other input ${i}`))
  for (const [i, value] of inputs.entries()) if (value !== undefined) ways.set(value, `input ${i}`)
  for (const [id, constant] of bound.constants) if (!ways.has(id)) ways.set(id, wayOfConstant(constant, isExact))
  const groups = new Map<string, MadeValue[]>()
  const main = new Set(bound.items)
  for (const call of side.calls) {
    if (!main.has(call)) continue
    const way = wayOfCall(call, ways, isExact)
    side.made.get(call.node)?.forEach((value, i) => {
      const key = `${way}:${i}`
      const id = call.node.outputs[i]
      if (id !== undefined) ways.set(id, key)
      if (value !== undefined) groups.set(key, [...(groups.get(key) ?? []), value])
    })
  }
  return groups
}

function wayOfCall({ node, op, inputs, known }: Call, ways: ReadonlyMap<ValueId, string>, isExact: boolean): string {
  const from = inputs.map(id => (id === undefined ? '' : (ways.get(id) ?? '?')))
  const parameters = isExact
    ? JSON.stringify(known, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item))
    : ''
  return digest(`${op.name}(${from.join(',')})${parameters}${node.outputs.length}`)
}

/** Bytes of a constant that are looked at to tell it from others. */
const LOOKED_AT = 1 << 20

function wayOfConstant(constant: Constant, isExact: boolean): string {
  const kind = `${constant.type}[${constant.dims.join(',')}]`
  if (!isExact || constant.byteLength > LOOKED_AT) return kind
  try {
    const { data } = constant.read()
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new TextEncoder().encode(JSON.stringify(data))
    return `${kind}${digest(bytes)}`
  } catch {
    // A constant that cannot be read is reported when it is needed.
    return kind
  }
}

/** FNV-1a over two lanes of 32 bits: enough to tell the parts of one model from each other. */
function digest(of: string | Uint8Array): string {
  const bytes = typeof of === 'string' ? new TextEncoder().encode(of) : of
  let [low, high] = [0x811c9dc5, 0x9dc5811c]
  for (let i = 0; i < bytes.length; i++) {
    low = Math.imul(low ^ bytes[i], 0x01000193)
    high = Math.imul(high ^ bytes[i] ^ (i & 255), 0x01000193)
  }
  return (low >>> 0).toString(36) + (high >>> 0).toString(36)
}

/** The constants that a call reads, by position of the input. */
export const constantsOf = (side: Side, call: Call): (Constant | undefined)[] =>
  call.inputs.map(id => (id === undefined ? undefined : side.bound.constants.get(id)))
