import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { expectNear } from '../near.ts'
import { scalar } from '../values.ts'

const KIND: Kind = ['onnx', 'QEmbedLayerNormalization', 1, 'com.microsoft']
const ids = (values: number[]): Tensor => new Tensor('int32', values, [2, 2])
const u8 = (values: number[], dims = [values.length]): Tensor => new Tensor('uint8', values, dims)
const none = undefined
const words = u8([0, 1, 4, 9, 16, 25, 36, 49], [4, 2])
const positions = u8([1, 0, 0, 2, 9, 1], [3, 2])
const segments = u8([5, 0, 0, 25], [2, 2])
const input = ids([3, 0, 1, 1])
const mask = ids([1, 0, 1, 1])
const [scaleOfWords, scaleOfPositions, scaleOfSegments, scaleOfGamma, scaleOfBeta] = [0.5, 0.3, 0.2, 0.1, 0.05].map(
  value => scalar(value, 'float32')
)
const [zeroOfWords, zeroOfPositions, zeroOfSegments, zeroOfGamma, zeroOfBeta] = [2, 1, 3, 4, 7].map(value =>
  scalar(value, 'uint8')
)
/** All inputs, without those of segments. */
const INPUTS: readonly (Tensor | undefined)[] = [
  input,
  none,
  words,
  positions,
  none,
  u8([10, 20]),
  u8([0, 10]),
  mask,
  scaleOfWords,
  scaleOfPositions,
  none,
  scaleOfGamma,
  scaleOfBeta,
  zeroOfWords,
  zeroOfPositions,
  none,
  zeroOfGamma,
  zeroOfBeta
]
const given = (changes: Partial<Record<number, Tensor>>): (Tensor | undefined)[] =>
  INPUTS.map((tensor, i) => changes[i] ?? tensor)
const SEGMENTS = { 1: ids([0, 1, 1, 0]), 4: segments, 10: scaleOfSegments, 15: zeroOfSegments }
const run = (changes: Partial<Record<number, Tensor>>): Tensor[] =>
  runOp(KIND, given(changes), { outputs: 2, attributes: { epsilon: 0.5 } }) as Tensor[]

// Results are those of ONNX Runtime 1.32.

describe('QEmbedLayerNormalization', () => {
  test('normalizes the sum of what the rows of three tables stand for', () => {
    const [y, counts] = run(SEGMENTS)
    expect(y).toMatchObject({ type: 'float32', dims: [2, 2, 2] })
    expectNear(y, [-0.9289703, 1.6939209, -0.9344975, 1.70866, -0.9387504, 1.7200011, -0.8476701, 1.4771202])
    expect([counts.type, ...counts.data]).toEqual(['int32', 1, 2])
  })

  test('segments may be left out', () => {
    const [y] = run({})
    expectNear(y, [-0.934975, 1.7099335, -0.718376, 1.1323363, -0.8547146, 1.4959059, -0.8958795, 1.6056788])
  })

  test('refuses what does not fit, and ids that are not there', () => {
    expect(errorOf(() => run({ 0: ids([4, 0, 0, 0]) })).code).toBe('index-out-of-range')
    expect(errorOf(() => run({ 3: u8([1, 2], [1, 2]) })).code).toBe('index-out-of-range')
    expect(errorOf(() => run({ 5: u8([1, 2, 3]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => run({ 8: new Tensor('float32', [1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => run({ 16: u8([1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => run({ 4: segments })).code).toBe('missing-input')
  })

  test('ids that are known are checked before the graph runs; symbols are kept', () => {
    const [y, counts] = inferOp(KIND, [fact('int32', ['n', 3]), ...INPUTS.slice(1)].with(7, none), {
      outputs: 2
    })
    expect([dimsOf(y), dimsOf(counts)]).toEqual([['n', 3, 2], ['n']])
    expect(errorOf(() => inferOp(KIND, given({ 0: ids([-1, 0, 0, 0]) }), { outputs: 2 })).code).toBe(
      'index-out-of-range'
    )
  })
})
