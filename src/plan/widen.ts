import { widenedConstant } from './derive.ts'
import type { Pass } from './pass.ts'

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
      const to = item.call.outputs[0]
      const constant = widenedConstant(graph, to)
      if (to === undefined || constant === undefined || graph.isOutside(to)) continue
      graph.constants.set(to, constant)
      graph.remove(item, 'folded')
      changed = true
    }
    return changed
  }
}
