import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axisLayout } from '../../src/kernels/core/axis-layout.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import { convert } from '../../src/tensor/convert.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { heapAllocate, heapFree } from '../../src/wasm/heap.ts'
import { type JobWatcher, watchingJobs } from '../../src/wasm/job-watcher.ts'
import { runJob } from '../../src/wasm/jobs.ts'
import { softmaxTemplate } from '../../src/wasm/kernels/softmax.ts'
import { runOp } from '../ops/harness.ts'
import { differenceOf, noise, runAccelerated } from './compare.ts'
import { freeHeld, hold } from './gather-calls.ts'

/** Floats of an operand, for which alone there may be room. */
const COUNT = 1024
const room = heapAllocate(COUNT * 4) ?? expect.fail('the heap is full')

// A process of its own, whose heap has no room for anything.
beforeAll(() => {
  for (let size = 2 ** 30; size >= 64;) {
    const block = heapAllocate(size, { zero: false })
    if (block === undefined) size /= 2
    else hold(block)
  }
})
afterAll(() => {
  freeHeld()
})

const [heads, size, past, fresh] = [2, 16, 24, 8]
const rows = noise([1, fresh, heads * size], 3)
const cache = noise([1, heads, past, size], 4)

type Call = Required<Parameters<typeof runAccelerated>>

const cases: readonly (readonly [string, ...Call])[] = [
  [
    'MaxPool with indices',
    ['onnx', 'MaxPool', 12],
    [noise([1, 4, 20, 20], 1)],
    { attributes: { kernel_shape: [2, 2], strides: [2, 2] }, outputs: 2 }
  ],
  [
    'LinearClassifier',
    ['onnx', 'LinearClassifier', 1, 'ai.onnx.ml'],
    [noise([200, 16], 1)],
    {
      attributes: {
        coefficients: [...noise([5 * 16], 2).data],
        intercepts: [...noise([5], 3).data],
        classlabels_ints: [1, 2, 3, 4, 5],
        post_transform: 'SOFTMAX'
      },
      outputs: 2
    }
  ],
  [
    'SoftmaxCrossEntropyLoss with probabilities',
    ['onnx', 'SoftmaxCrossEntropyLoss', 13],
    [noise([60, 32], 1), new Tensor('int64', new BigInt64Array(60).fill(3n), [60])],
    { outputs: 2 }
  ],
  [
    'GroupQueryAttention',
    ['onnx', 'GroupQueryAttention', 1, 'com.microsoft'],
    [
      ...[rows, rows, rows, cache, cache],
      new Tensor('int32', Int32Array.of(past + fresh - 1), [1]),
      new Tensor('int32', Int32Array.of(past + fresh), [])
    ],
    { attributes: { num_heads: heads, kv_num_heads: heads }, outputs: 3 }
  ],
  [
    'Attention with a past',
    ['onnx', 'Attention', 23],
    [...[1, 2, 5].map(seed => noise([1, heads, fresh, size], seed)), undefined, cache, cache],
    { outputs: 3 }
  ],
  ['BiasAdd', ['onnx', 'BiasAdd', 1, 'com.microsoft'], [rows, noise([heads * size], 1), rows], {}],
  ['BiasSplitGelu', ['onnx', 'BiasSplitGelu', 1, 'com.microsoft'], [rows, noise([heads * size], 1)], {}],
  ['NhwcConv', ['onnx', 'NhwcConv', 1, 'com.microsoft'], [noise([1, 9, 9, 5], 1), noise([7, 3, 3, 5], 2)], {}]
]

test('a job that finds no room says so to whoever records jobs', () => {
  const [x, out] = [noise([300, 300], 1).data, new Float32Array(300 * 300)]
  const template = softmaxTemplate(axisLayout([300, 300], 1), false)
  let missed = 0
  const recorder: JobWatcher = { ran: () => expect.fail('it has run'), missed: () => missed++, take: () => undefined }
  expect(watchingJobs(recorder, () => drain(runJob(template, [x], out, 1)))).toBe(false)
  expect(missed).toBe(1)
})

describe('a kernel that finds the heap full leaves the call to the operator, and each output is made once', () => {
  test.each(cases)('%s', (_, ...call) => expectMadeOnce(...call))

  test('an operator of float16 whose operand, but not its result, has room as float32', () => {
    heapFree(room)
    expectMadeOnce(['onnx', 'Softplus', 1], [convert(noise([COUNT], 1), 'float16')], {})
  })
})

function expectMadeOnce(...[kind, inputs, options]: Call): void {
  const made: number[] = []
  const found = runAccelerated(kind, inputs, { ...options, region: 'array', onMade: index => made.push(index) })
  expect([...new Set(made)]).toEqual(made)
  runOp(kind, inputs, options).forEach((value, i) =>
    expect(differenceOf(found[i] as Tensor, value as Tensor)).toBeLessThan(1e-6)
  )
}
