import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { isConcrete } from '../shapes/dim.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { DTYPES, type StorageOf } from '../tensor/dtype.ts'
import { elementCount, product, Tensor } from '../tensor/tensor.ts'
import { derivedConstant } from './derive.ts'
import { isPlanCall, operandOf, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, numbersOf } from './patterns.ts'

const isConcat = isNamed('Concat')
const isGather = isNamed('Gather')
const isSplit = isNamed('Split')
const isSlice = isNamed('Slice')
/** What gives the same elements other dims. */
const isReshaping = isNamed('Flatten', 'Identity', 'Reshape', 'Squeeze', 'Unsqueeze')

/**
 * What a Gather takes as one known row of a constant, a Slice between known bounds, or a Split is a constant of its
 * own: the weights of one expert, or of one kind of edges, which models hold stacked. Left alone, each run copies them,
 * and no kernel packs them. They lie together in the constant, of which nothing else is read; and so they do with
 * the dims that a Squeeze gives them.
 */
export const constantRows: Pass = {
  name: 'constant rows',
  requires: [],
  ops: ['Gather', 'Slice', 'Split'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    const taken: Taken = new Map()
    const made = new Map<ValueId, Part>()
    for (const item of [...graph.calls]) {
      const { call } = item
      if (call.outputs.some(id => id !== undefined && graph.isOutside(id))) continue
      const parts = isReshaping(call) ? reshaped(graph, call, made) : partsOf(graph, call)
      if (parts === undefined || isJoined(graph, parts) || !isBounded(taken, parts)) continue
      for (const part of parts) {
        graph.constants.set(part.id, constantOf(part))
        made.set(part.id, part)
      }
      graph.remove(item, 'folded')
      changed = true
    }
    return changed
  }
}

/** Rows of a constant, which lie together. */
interface Part {
  readonly id: ValueId
  readonly source: Constant
  /** Elements in front of it. */
  readonly start: number
  readonly dims: readonly number[]
}

/** Whether parts are put together again: gates in another order are one weight, which ./computed-weights.ts makes. */
const isJoined = (graph: PlanGraph, parts: readonly Part[]): boolean =>
  parts.some(({ id }) => [...graph.readersOf(id)].some(reader => isPlanCall(reader) && isConcat(reader.call)))

/** The parts of constants that are constants of their own, by where they begin and their dims. */
type Taken = Map<Constant, { readonly keys: Set<string>; elements: number }>

/** A part by its first element and dims. */
const keyOf = ({ start, dims }: Part): string => `from ${start} as ${dims.join()}`

/**
 * Notes parts, unless all parts of their constant were larger than it is, as they are and with other dims: they are not
 * counted against the memory of a run, and a file may ask for any number of them that overlap.
 */
function isBounded(taken: Taken, parts: readonly Part[]): boolean {
  const { source } = parts[0]
  const all = taken.get(source) ?? { keys: new Set(), elements: 0 }
  const fresh = parts.filter(part => !all.keys.has(keyOf(part)))
  const elements = fresh.reduce((sum, { dims }) => sum + elementCount(dims), all.elements)
  if (elements > 2 * elementCount(source.dims)) return false
  for (const part of fresh) all.keys.add(keyOf(part))
  all.elements = elements
  taken.set(source, all)
  return true
}

/** What a call takes of a constant that is not read yet, where each part lies in it together. */
function partsOf(graph: PlanGraph, call: Call): readonly Part[] | undefined {
  if (!isGather(call) && !isSlice(call) && !isSplit(call)) return undefined
  const source = graph.constantOf(operandOf(call, 'data')!)
  if (source === undefined || !('read' in source) || source.raw?.layout !== undefined) return undefined
  const { array, slots, bits } = DTYPES[source.type]
  // Elements of less than a byte may begin within one.
  if (array === undefined || slots !== 1 || bits % 8 !== 0) return undefined
  const rows = isGather(call) ? rowOf(graph, call, source) : rangeOf(graph, call, source)
  if (rows === undefined || elementCount(source.dims.slice(0, rows.axis)) !== 1) return undefined
  const parts: Part[] = []
  const rowSize = product(source.dims, rows.axis + 1)
  let start = rows.first * rowSize
  for (const id of call.outputs) {
    const dims = shapeOf(graph, id)
    if (id === undefined || dims === undefined || !isConcrete(dims) || elementCount(dims) === 0) return undefined
    parts.push({ id, source, start, dims })
    start += elementCount(dims)
  }
  return start <= elementCount(source.dims) ? parts : undefined
}

/** A part with the dims that a call gives it. */
function reshaped(graph: PlanGraph, call: Call, made: ReadonlyMap<ValueId, Part>): readonly Part[] | undefined {
  const [from, id] = [made.get(call.inputs[0]!), call.outputs[0]]
  const dims = shapeOf(graph, id)
  if (from === undefined || id === undefined || dims === undefined || !isConcrete(dims)) return undefined
  return elementCount(dims) === elementCount(from.dims) ? [{ ...from, id, dims }] : undefined
}

interface Rows {
  readonly axis: number
  /** The row with which the first part begins. */
  readonly first: number
}

/** The row that a Gather takes, where that is one. */
function rowOf(graph: PlanGraph, call: Call, { dims }: Constant): Rows | undefined {
  const index = scalarOf(graph, operandOf(call, 'indices'))
  const [given] = numbersOf(graph, call, 'axis') ?? []
  if (index === undefined || given === undefined || call.known.batchDims !== 0) return undefined
  if (index < 0 && call.known.negative !== 'wrap') return undefined
  const axis = given < 0 ? given + dims.length : given
  const first = index < 0 ? index + dims[axis] : index
  // An index out of range is for the kernel to judge.
  return first >= 0 && first < dims[axis] ? { axis, first } : undefined
}

/** The rows along one axis that a Slice takes without a step, or that a Split divides. */
function rangeOf(graph: PlanGraph, call: Call, { dims }: Constant): Rows | undefined {
  const [axes, starts, steps] = ['axes', 'starts', 'steps'].map(name => numbersOf(graph, call, name))
  const along = isSplit(call) ? numbersOf(graph, call, 'axis') : axes
  if (along?.length !== 1) return undefined
  const axis = along[0] < 0 ? along[0] + dims.length : along[0]
  if (isSplit(call)) return { axis, first: 0 }
  // Steps that are left out are none, those that are not known are undefined.
  if (steps === undefined || (steps[0] ?? 1) !== 1 || starts?.length !== 1) return undefined
  return { axis, first: Math.max(0, starts[0] < 0 ? starts[0] + dims[axis] : starts[0]) }
}

/** Rows of a constant as a constant of their own. */
function constantOf(part: Part): Constant {
  const { source, start, dims } = part
  const { type, raw } = source
  const count = elementCount(dims)
  const key = keyOf(part)
  if (raw === undefined)
    return derivedConstant(source, key, type, dims, () => {
      const data = (source.read().data as Uint8Array).subarray(start, start + count)
      return new Tensor(type, data as StorageOf[typeof type], dims)
    })
  const elementBytes = raw.length / elementCount(source.dims)
  const [offset, length] = [raw.offset + start * elementBytes, count * elementBytes]
  const read = (): Tensor => {
    source.verify?.()
    return tensorOfBytes(type, dims, raw.source.read(offset, length), 'onnx')
  }
  return derivedConstant(source, key, type, dims, read, {
    raw: { source: raw.source, offset, length },
    ...(source.verify && { verify: () => source.verify!() })
  })
}
