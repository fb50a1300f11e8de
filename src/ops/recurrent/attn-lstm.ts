import { fail } from '../../errors.ts'
import { doubles, readNumbers } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { gemm, matrix } from '../../kernels/matrix/gemm.ts'
import { attentionCell, type AttentionInput, type Memory } from '../../kernels/recurrent/attention-cell.ts'
import { lstmCell } from '../../kernels/recurrent/recurrent-cells.ts'
import { params } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { onnxBind, type RecurrentParams } from '../../op-kit/recurrent-params.ts'
import { runRecurrent } from '../../op-kit/recurrent-run.ts'
import { recurrentShape, validateLengths } from '../../op-kit/recurrent-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { addDims, type Dim, maxDim, printDim, subDims, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toNumbers } from '../../tensor/elements.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { LSTM_OPERANDS } from './lstm.ts'
import { sumOfHalves } from './rnn.ts'

interface Params extends RecurrentParams {
  /** Whether the forget gate is 1 minus the input gate. */
  couplesForget: boolean
}

interface Operands<T> {
  readonly x: T
  readonly w: T
  readonly r: T
  readonly query: T | undefined
  readonly key: T | undefined
  readonly score: T | undefined
  readonly memory: T | undefined
  readonly memoryLengths: T | undefined
  readonly layer: T | undefined
}

const GATES = 4

/** Rules of {@link attnLstm}. */
export const attnLstmRules = defineRules({
  name: 'AttnLSTM',
  operands: {
    ...LSTM_OPERANDS,
    query: 'optional',
    key: 'optional',
    score: 'optional',
    memory: 'optional',
    memoryLengths: 'optional',
    layer: 'optional'
  },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { ...onnxBind(['sigmoid', 'tanh', 'tanh']), couplesForget: flag('input_forget') }
    }
  ],

  shape(operands, p, call) {
    const { x, w, query, key, score, memory, layer } = operands
    const width = attentionWidth(operands, p)
    commonType({ X: x, QW: query, MW: key, V: score, M: memory, AW: layer })
    const columns = w.shape?.length === 3 ? subDims(w.shape[2], width) : unknownDim()
    if (maxDim(columns) < 0) fail('dims-mismatch', `W has fewer columns than the ${printDim(width)} of the attention`)
    const own = tensorFact(w.type, w.shape?.length === 3 ? [w.shape[0], w.shape[1], columns] : w.shape)
    return recurrentShape({ ...operands, w: own }, p, { G: GATES, N: 2 * GATES, P: 3 }, 2, call)
  },

  validate: (operands, p) => validateLengths(operands, p)
})

/**
 * A layer of long short-term memory that attends to a memory after each time step: com.microsoft AttnLSTM-1. The
 * weights of the input have columns for what was attended to, or for what the attention layer makes of it together with
 * the hidden state (the first of its rows). Each direction begins without attention.
 */
export const attnLstm = /* @__PURE__ */ withKernel(attnLstmRules, {
  *run(operands, { couplesForget, ...p }, call) {
    const { x, w, r, query, key, score, memory, memoryLengths, layer } = operands
    if (!query || !key || !score || !memory) fail('internal', 'the shape rule demands these')
    const [batch, rows, depth] = memory.dims
    const [directions, gateSize, columns] = w.dims
    const [hidden, units] = [r.dims[2], query.dims[2]]
    const values = yield* readNumbers(memory)
    const [keyWeights, weights] = [yield* readNumbers(key), yield* readNumbers(w)]
    const inputSize = x.dims[2]
    const width = columns - inputSize
    const lengths = memoryLengths ? toNumbers(memoryLengths) : new Float64Array(batch).fill(rows)
    for (let b = 0; b < batch; b++) {
      if (!(lengths[b] >= 1 && lengths[b] <= rows))
        fail('value-out-of-range', `the memory of sequence ${b} has ${lengths[b]} rows; expected 1..${rows}`)
    }
    const keys: Float64Array[] = []
    for (let d = 0; d < directions; d++) {
      const own = doubles(batch * rows * units)
      const factors = matrix(keyWeights, d * depth * units, units)
      yield* gemm(batch * rows, units, depth, matrix(values, 0, depth), factors, matrix(own, 0, units), new Pace())
      keys.push(own)
    }
    const [queryWeights, scores, layers] = [toNumbers(query), toNumbers(score), layer && toNumbers(layer)]
    const memoryOf = (d: number): Memory => ({
      values,
      rows,
      depth,
      lengths,
      keys: keys[d],
      units,
      query: matrix(queryWeights, d * hidden * units, units),
      score: scores.subarray(d * units, (d + 1) * units)
    })
    const inputOf = (d: number): AttentionInput => ({
      width,
      weights: matrix(weights, d * gateSize * columns + inputSize, columns),
      gateSize,
      layer: layers && matrix(layers, d * (hidden + depth) * width, width)
    })
    yield* runRecurrent(
      { ...operands, w: firstColumns(w, inputSize) },
      p,
      {
        gateCount: GATES,
        cellOf({ direction, sizes, gates, h, c, peepholes }) {
          const options = { order: 'iofc', couplesForget, ...(peepholes && { peepholes }) }
          const cell = lstmCell(sizes, gates, h, c, options)
          return attentionCell(cell, sizes, memoryOf(direction), inputOf(direction))
        },
        biasOf: sumOfHalves
      },
      call
    )
  }
})

/** Checks the operands of the attention; columns that it has in the weights of the input. */
function attentionWidth(
  { x, r, query, key, score, memory, memoryLengths, layer }: Operands<TensorFact>,
  { directions }: Pick<Params, 'directions'>
): Dim {
  if (!query || !key || !score || !memory) fail('missing-input', 'QW, MW, V and M are needed')
  const batch = x.shape?.length === 3 ? x.shape[1] : unknownDim()
  const hidden = r.shape?.length === 3 ? r.shape[2] : unknownDim()
  const [own, , depth] = meetShape('M', memory, [batch, unknownDim(), unknownDim()])
  const units = meetShape('QW', query, [directions.length, hidden, unknownDim()])[2]
  meetShape('MW', key, [directions.length, depth, units])
  meetShape('V', score, [directions.length, units])
  meetShape('memory_seq_lens', memoryLengths, [own])
  return layer ? meetShape('AW', layer, [directions.length, addDims(hidden, depth), unknownDim()])[2] : depth
}

/** The first columns of weights `[directions, rows, columns]`. */
function firstColumns(weights: Tensor, count: number): Tensor {
  const [directions, rows, columns] = weights.dims
  const first = allocate(weights.type, [directions, rows, count])
  const [from, to] = [toNumbers(weights), first.data as Float64Array]
  for (let row = 0; row < directions * rows; row++)
    to.set(from.subarray(row * columns, row * columns + count), row * count)
  return first
}
