import type { Call } from '../bind/call.ts'
import type { ByteRange, Constant } from '../graph/graph.ts'
import { isConcrete } from '../shapes/dim.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { DTYPES, type StorageOf } from '../tensor/dtype.ts'
import { elementCount, Tensor } from '../tensor/tensor.ts'
import { derivedConstant } from './derive.ts'
import { operandOf, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, numbersOf } from './patterns.ts'

const isGather = isNamed('Gather')

/**
 * A Gather that takes one known row of a constant makes a constant of it: the weights of one expert, or of one kind of
 * edges, which models hold stacked. Left alone, each run copies them, and no kernel packs them. They lie together in
 * the constant, of which nothing else is read.
 */
export const constantRows: Pass = {
  name: 'constant rows',
  requires: [],
  ops: ['Gather'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    for (const item of [...graph.calls]) {
      const id = item.call.outputs[0]
      if (id === undefined || graph.isOutside(id) || !isGather(item.call)) continue
      const row = rowOf(graph, item.call)
      if (row === undefined) continue
      graph.constants.set(id, row)
      graph.remove(item, 'folded')
      changed = true
    }
    return changed
  }
}

/** The row that a Gather takes, where that is one of a constant which is not read yet, and lies in it together. */
function rowOf(graph: PlanGraph, call: Call): Constant | undefined {
  const source = graph.constantOf(operandOf(call, 'data')!)
  const dims = shapeOf(graph, call.outputs[0])
  const index = scalarOf(graph, operandOf(call, 'indices'))
  const [axis] = numbersOf(graph, call, 'axis') ?? []
  if (source === undefined || !('read' in source) || source.raw?.layout !== undefined) return undefined
  if (index === undefined || axis === undefined || dims === undefined || !isConcrete(dims)) return undefined
  if (call.known.batchDims !== 0 || (index < 0 && call.known.negative !== 'wrap')) return undefined
  const at = axis < 0 ? axis + source.dims.length : axis
  const size = source.dims[at]
  const place = index < 0 ? index + size : index
  // Elements of less than a byte may begin within one; and an index out of range is for the kernel to judge.
  const { array, slots, bits } = DTYPES[source.type]
  const isAtHand = array !== undefined && slots === 1 && bits % 8 === 0
  if (!isAtHand || elementCount(source.dims.slice(0, at)) !== 1 || !(place >= 0 && place < size)) return undefined
  return elementCount(dims) === 0 ? undefined : partOf(source, place, dims)
}

/** A row of a constant, which lies together, as a constant of its own. */
function partOf(source: Constant, row: number, dims: readonly number[]): Constant {
  const { type, raw } = source
  const count = elementCount(dims)
  const key = `row ${row} as ${dims.join()}`
  if (raw === undefined)
    return derivedConstant(source, key, type, dims, () => {
      const data = (source.read().data as Uint8Array).subarray(row * count, (row + 1) * count)
      return new Tensor(type, data as StorageOf[typeof type], dims)
    })
  const length = (raw.length / elementCount(source.dims)) * count
  const range: ByteRange = { source: raw.source, offset: raw.offset + row * length, length }
  const read = (): Tensor => {
    source.verify?.()
    return tensorOfBytes(type, dims, range.source.read(range.offset, range.length), 'onnx')
  }
  return derivedConstant(source, key, type, dims, read, range)
}
