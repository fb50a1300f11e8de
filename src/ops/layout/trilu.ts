import { COST, Pace } from '../../kernels/core/pace.ts'
import { copyUnits, unitsOf } from '../../kernels/core/units.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { flag, inputInt } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** The diagonal where the triangle ends: 0 the main one, positive above it. */
  k: DataDependent<number>
  upper: boolean
}

/** The upper or lower triangle of each matrix; the rest is zero. ONNX Trilu-14, com.microsoft Trilu-1. */
export const trilu = defineOp({
  name: 'Trilu',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 14, bind: { k: inputInt(1, 0), upper: flag('upper') } },
    { domain: 'com.microsoft', since: 1, bind: { k: inputInt(1, 0), upper: flag('upper') } }
  ],
  moves: ['data'],

  shape({ data }) {
    checkRankAtLeast('the input', data, 2)
    return [tensorFact(data.type, data.shape)]
  },

  *run({ data }, { k, upper }, call) {
    const [rows, columns] = data.dims.slice(-2)
    const { array: from, per } = unitsOf(data)
    const to = unitsOf(call.output()).array
    const pace = new Pace()
    for (let start = 0, row = 0; start < to.length; start += columns * per, row = (row + 1) % rows) {
      const split = Math.max(0, Math.min(columns, row + k + (upper ? 0 : 1)))
      const [first, end] = upper ? [split, columns] : [0, split]
      copyUnits(from, start + first * per, to, start + first * per, (end - first) * per)
      if (pace.isDue(columns * per * COST.element)) yield
    }
  }
})
