import { doubles, readNumbers } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { defineOp } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { addDims, type Dim, maxDim, minDim, subDims, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

/** Steps of a path: to the next row and column, to the next row, to the next column. */
const BOTH = 0
const ROW = 1
const COLUMN = 2

/**
 * The path of least cost through a matrix of costs, from its first to its last element, as its rows and its columns:
 * each step goes to the next row, column or both. Of steps that cost the same the one to the next column is taken. Sums
 * are rounded to float32 as ONNX Runtime does, since they decide. com.microsoft DynamicTimeWarping-1; the matrix may
 * have a leading dim of 1.
 */
export const dynamicTimeWarping = defineOp({
  name: 'DynamicTimeWarping',
  operands: { costs: 'tensor' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ costs }) {
    const { shape } = costs
    checkRank('the input', costs, 2, 3)
    if (shape === undefined) return [tensorFact('int32', [2, unknownDim()])]
    if (shape.length === 3) checkDim('the input', costs, 0, 1)
    return [tensorFact('int32', [2, pathLength(shape.slice(-2))])]
  },

  *run({ costs }, _, call) {
    const [rows, columns] = costs.dims.slice(-2)
    if (rows === 0 || columns === 0) return void call.output(0, [2, 0])
    const steps = yield* leastSteps(yield* readNumbers(costs), rows, columns)
    const path: [number, number][] = []
    const pace = new Pace()
    for (let i = rows, j = columns; i > 0 && j > 0;) {
      path.push([i - 1, j - 1])
      // Sums that are infinite or NaN decide nothing: along the first row and column there is one way.
      const step = i === j && i === 1 ? BOTH : i === 1 ? COLUMN : j === 1 ? ROW : steps[(i - 1) * columns + j - 1]
      if (step !== COLUMN) i--
      if (step !== ROW) j--
      if (pace.isDue(COST.allocation)) yield
    }
    const out = call.output(0, [2, path.length]).data as Int32Array
    path.reverse().forEach(([i, j], at) => {
      out[at] = i
      out[path.length + at] = j
    })
  }
})

/** A path is at least as long as the longer side, and at most as both without the corner that they share. */
function pathLength([rows, columns]: readonly Dim[]): Dim {
  const both = subDims(addDims(rows, columns), 1)
  const lowest = [minDim(rows), minDim(columns)]
  return unknownDim(lowest.includes(0) ? 0 : Math.max(...lowest), Math.max(0, maxDim(both)))
}

/** For each element the last step of the path of least cost to it. */
function* leastSteps(costs: Numbers, rows: number, columns: number): Generator<void, Uint8Array> {
  const steps = new Uint8Array(rows * columns)
  let before = doubles(columns + 1).fill(Infinity)
  let own = doubles(columns + 1)
  before[0] = 0
  const pace = new Pace()
  for (let i = 0; i < rows; i++) {
    own[0] = Infinity
    for (let j = 0; j < columns; j++) {
      const [diagonal, row, column] = [before[j], before[j + 1], own[j]]
      const step = diagonal < row && diagonal < column ? BOTH : row < diagonal && row < column ? ROW : COLUMN
      const least = step === BOTH ? diagonal : step === ROW ? row : column
      steps[i * columns + j] = step
      own[j + 1] = Math.fround(costs[i * columns + j] + least)
    }
    ;[before, own] = [own, before]
    if (pace.isDue((1 + columns) * COST.element)) yield
  }
  return steps
}
