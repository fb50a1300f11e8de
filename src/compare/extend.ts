import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { product } from '../tensor/tensor.ts'
import { constantsOf, type Pair } from './pairs.ts'
import { twinInputs } from './ports.ts'
import type { MadeValue, Side } from './side.ts'

/**
 * Further pairs of values of the main graphs, from known ones: those that nodes of one operator make of paired values
 * and of constants of as many elements, where only one free node on each side does.
 * @param inputs names of inputs of `a`, with names of inputs of `b`
 */
export function extendPairs(
  a: Side,
  b: Side,
  known: readonly Pair[],
  inputs: ReadonlyMap<string, string> = new Map()
): Pair[] {
  const [left, right] = [readersIn(a), readersIn(b)]
  const twins = twinInputs(a.model, b.model, inputs)
  const turned = new Set<ValueId>()
  const taken = new Set<MadeValue>()
  const note = (pair: Pair): void => {
    const [from, to] = [pair.a, pair.b].map(({ node, output }) => node.outputs[output])
    taken.add(pair.a).add(pair.b)
    if (pair.a.graphPath !== '' || pair.b.graphPath !== '' || from === undefined || to === undefined) return
    twins.set(from, to)
    if (pair.by !== undefined) turned.add(from)
  }
  known.forEach(note)
  const isFree = (side: Side, { node }: Call): boolean =>
    side.made.get(node)?.some(value => value && taken.has(value)) === false
  const pairs: Pair[] = []
  for (const call of left.calls) {
    const id = call.inputs.find(input => input !== undefined && twins.has(input))
    if (id === undefined || !isFree(a, call)) continue
    const key = keyOf(a, call, input => twins.get(input))
    const twin = twins.get(id)!
    const own = left.readers.get(id)!.filter(one => isFree(a, one) && keyOf(a, one, input => twins.get(input)) === key)
    const others = (right.readers.get(twin) ?? []).filter(
      one => isFree(b, one) && keyOf(b, one, input => input) === key
    )
    if (key === undefined || own.length !== 1 || others.length !== 1) continue
    const by = call.inputs.some(input => input !== undefined && turned.has(input)) ? ('structure' as const) : undefined
    for (const pair of outputsOf(a, call, b, others[0])) {
      pairs.push(by ? { ...pair, by } : pair)
      note(pairs[pairs.length - 1])
    }
  }
  return pairs
}

function outputsOf(a: Side, callA: Call, b: Side, callB: Call): Pair[] {
  const twins = b.made.get(callB.node) ?? []
  return (a.made.get(callA.node) ?? []).flatMap((value, i) => {
    const twin = twins[i]
    return value && twin ? [{ a: value, b: twin }] : []
  })
}

interface Readers {
  readonly calls: readonly Call[]
  readonly readers: ReadonlyMap<ValueId, readonly Call[]>
}

/** The nodes of a main graph, and those that read each value. */
function readersIn({ bound, calls }: Side): Readers {
  const main = new Set<unknown>(bound.items)
  const own = calls.filter(call => main.has(call))
  const readers = new Map<ValueId, Call[]>()
  for (const call of own)
    for (const id of new Set(call.inputs)) {
      if (id === undefined) continue
      const list = readers.get(id)
      if (list) list.push(call)
      else readers.set(id, [call])
    }
  return { calls: own, readers }
}

/** The operator and what it reads; undefined where something of it has no counterpart. */
function keyOf(side: Side, call: Call, twinOf: (id: ValueId) => ValueId | undefined): string | undefined {
  const constants = constantsOf(side, call)
  const parts = [call.op.name, String(call.outputs.length)]
  for (const [i, id] of call.inputs.entries()) {
    const constant = constants[i]
    const twin = id === undefined ? '' : constant ? `${product(constant.dims)} elements` : twinOf(id)
    if (twin === undefined) return undefined
    parts.push(twin)
  }
  return JSON.stringify(parts)
}
