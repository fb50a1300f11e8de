import { fail } from '../../errors.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { blockUnitsOf, copyUnits } from '../../kernels/core/units.ts'
import { defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { int, is } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { type Dim, maxDim, meetDims, normalizeAxis, printDim } from '../../shapes/dim.ts'
import { knownValue, tensorFact } from '../../shapes/fact.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  batchAxis: number
  timeAxis: number
  /** Whether one axis must be 0 and the other 1, as in ONNX. */
  outermost: boolean
}

/**
 * Reverses the first elements of each sequence, as many as its length says. ONNX ReverseSequence-10, -28; OpenVINO
 * ReverseSequence-1. Length 0 leaves a sequence unchanged in both dialects (OpenVINO's specification requires at least
 * 1, its runtime allows 0).
 */
export const reverseSequence = defineOp({
  name: 'ReverseSequence',
  operands: { data: 'tensor', lengths: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 10, bind: { batchAxis: int('batch_axis'), timeAxis: int('time_axis'), outermost: is(true) } }],
  openvino: [
    {
      since: 1,
      types: { lengths: NUMERIC },
      bind: { batchAxis: int('batch_axis'), timeAxis: int('seq_axis'), outermost: is(false) }
    }
  ],
  moves: ['data'],

  shape({ data, lengths }, p) {
    checkRank('the list of lengths', lengths, 1)
    checkRankAtLeast('the input', data, 2)
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    const { batch } = axesOf(p, data.shape.length)
    return [
      tensorFact(
        data.type,
        data.shape.map((dim, i) => (i === batch && lengths.shape ? mergeBatch(dim, lengths.shape[0]) : dim))
      )
    ]
  },

  validate({ data, lengths }, p) {
    const known = knownValue(lengths)
    if (known && data.shape) checkLengths(known, data.shape[axesOf(p, data.shape.length).time])
  },

  *run({ data, lengths }, p, call) {
    const { batch, time } = axesOf(p, data.dims.length)
    checkLengths(lengths, data.dims[time])
    const counts = toDoubles(lengths)
    const [first, second] = [Math.min(batch, time), Math.max(batch, time)]
    const [rows, columns] = [data.dims[first], data.dims[second]]
    const between = product(data.dims.slice(first + 1, second))
    const { from, to, block } = blockUnitsOf(data, call.rawOutput(), product(data.dims.slice(second + 1)))
    const isBatchFirst = batch < time
    const timeBlock = block * (time === second ? 1 : between * columns)
    const pace = new Pace()
    for (let target = 0, row = 0; target < to.length; row++) {
      for (let m = 0; m < between; m++) {
        for (let column = 0; column < columns; column++, target += block) {
          const t = isBatchFirst ? column : row % rows
          const count = counts[isBatchFirst ? row % rows : column]
          const shift = t < count ? count - 1 - 2 * t : 0
          copyUnits(from, target + shift * timeBlock, to, target, block)
        }
      }
      if (pace.isDue(between * columns * block * COST.element)) yield
    }
  }
})

function axesOf(
  { batchAxis, timeAxis, outermost }: ShapeParams<Params>,
  rank: number
): { batch: number; time: number } {
  if (outermost && ((batchAxis !== 0 && batchAxis !== 1) || (timeAxis !== 0 && timeAxis !== 1))) {
    fail('axis-out-of-range', `batch_axis is ${batchAxis} and time_axis ${timeAxis}; 0 and 1 are expected, or 1 and 0`)
  }
  const batch = normalizeAxis(batchAxis, rank, 'the batch axis')
  const time = normalizeAxis(timeAxis, rank, 'the time axis')
  if (batch === time) fail('value-out-of-range', `the batch axis and the time axis are both ${batch}`)
  return { batch, time }
}

const mergeBatch = (batch: Dim, lengths: Dim): Dim =>
  meetDims(batch, lengths) ??
  fail('dims-mismatch', `there are ${printDim(lengths)} lengths for ${printDim(batch)} batches`)

/** Each length is an integer from 0 to the size of the time axis. */
function checkLengths(lengths: Tensor, size: Dim): void {
  const counts = toDoubles(lengths)
  const bad = counts.findIndex((count: number) => !Number.isInteger(count) || count < 0 || count > maxDim(size))
  if (bad < 0) return
  fail('value-out-of-range', `length ${lengths.data[bad]} at [${bad}] is out of range; expected 0..${printDim(size)}`)
}
