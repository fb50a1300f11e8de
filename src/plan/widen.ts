import type { Constant } from '../graph/graph.ts'
import { convert } from '../tensor/convert.ts'
import type { DType } from '../tensor/dtype.ts'
import { elementCount } from '../tensor/tensor.ts'
import type { PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

/** Types whose every number is one of float32, too. */
const NARROW: readonly DType[] = ['float16', 'bfloat16']
const isCast = isNamed('Cast')

/**
 * Constants of 16-bit floats that a node widens to float32, as OpenVINO compresses weights, become constants of
 * float32, which are made when they are first read. Kernels that pack weights then pack these once, instead of widening
 * them in each run. Rows of tables are widened by the calls that look them up (`fused-convert.ts`), so this comes after
 * fusing.
 */
export const widen: Pass = {
  name: 'widen',
  requires: ['fuse'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    for (const item of graph.calls) {
      const [from, to] = [item.call.inputs[0], item.call.outputs[0]]
      if (!isCast(item.call) || item.call.known.to !== 'float32' || from === undefined || to === undefined) continue
      const constant = narrowConstant(graph, from)
      if (constant === undefined || graph.isOutside(to)) continue
      graph.constants.set(to, widened(constant))
      graph.remove(item, 'folded')
      changed = true
    }
    return changed
  }
}

function narrowConstant(graph: PlanGraph, id: string): Constant | undefined {
  const constant = graph.constantOf(id)
  return constant && 'read' in constant && NARROW.includes(constant.type) ? constant : undefined
}

/** By what they are made of, so that all plans of a session share them. */
const made = new WeakMap<Constant, Constant>()

function widened(constant: Constant): Constant {
  const known = made.get(constant)
  if (known) return known
  const wide = wideOf(constant)
  made.set(constant, wide)
  return wide
}

const wideOf = (constant: Constant): Constant => ({
  type: 'float32',
  dims: constant.dims,
  byteLength: 4 * elementCount(constant.dims),
  place: constant.place,
  isDerived: true,
  read: () => convert(constant.read(), 'float32')
})
