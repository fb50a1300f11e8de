import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const EMBED: Kind = ['onnx', 'EmbedLayerNormalization', 1, 'com.microsoft']

const ids = (values: number[], dims: number[]): Tensor => new Tensor('int32', values, dims)
const words = new Tensor('float32', [0, 1, 4, 9, 16, 25, 36, 49], [4, 2])
const positions = new Tensor('float32', [1, 0, 0, 2, -1, 1], [3, 2])
const segments = new Tensor('float32', [0.5, 0, 0, 0.25], [2, 2])
const gamma = new Tensor('float32', [1, 2])
const beta = new Tensor('float32', [0, 1])
const input = ids([3, 0, 1, 1], [2, 2])
const mask = ids([1, 0, 1, 1], [2, 2])
const none = undefined
/** Two outputs, of which the second is the counts of the mask, and the sum. */
const parts = (inputs: (Tensor | undefined)[]): number[][] =>
  runOp(EMBED, inputs, { outputs: 3 })
    .slice(1)
    .map(value => [...(value as Tensor).data] as number[])

describe('EmbedLayerNormalization', () => {
  test('normalizes the sum of word, position and segment', () => {
    const inputs = [
      input,
      ids([0, 1, 1, 0], [2, 2]),
      words,
      positions,
      segments,
      gamma,
      beta,
      mask,
      ids([2, 1], [1, 2])
    ]
    const [y, count, sum] = runOp(EMBED, inputs, { outputs: 3, attributes: { epsilon: 0.5 } }) as Tensor[]
    // By ONNX Runtime 1.32.
    expectNear(y, [-0.99527746, 2.99055481, -0.91694927, 2.83389854, -0.98150128, 2.96300268, -0.97713989, 2.9542799])
    expect([count.type, ...count.data]).toEqual(['int32', 1, 2])
    expect([...sum.data]).toEqual([35.5, 50, 0, 3.25, 3, 10.25, 4.5, 11])
  })

  test('positions that are left out are counted, segments that are left out are the first', () => {
    const [count, sum] = parts([input, none, words, positions, segments, gamma, beta])
    expect(count).toEqual([0, 0])
    expect(sum).toEqual([37.5, 49, 0.5, 3, 5.5, 9, 4.5, 11])
    const [, without] = parts([input, none, words, positions, none, gamma, beta])
    expect(without).toEqual([37, 49, 0, 3, 5, 9, 4, 11])
  })

  test('each batch entry may have positions of its own', () => {
    const [, sum] = parts([input, none, words, positions, none, gamma, beta, none, ids([0, 0, 2, 1], [2, 2])])
    expect(sum).toEqual([37, 49, 1, 1, 3, 10, 4, 11])
  })

  test('the mask counts its ones, with holes and other numbers between them', () => {
    const [count] = parts([input, none, words, positions, none, gamma, beta, ids([2, 1, 1, -1], [2, 2])])
    expect(count).toEqual([1, 1])
  })

  test('half precision is rounded once', () => {
    const half = [words, positions, none, gamma, beta].map(tensor => tensor && convert(tensor, 'float16'))
    const [y, , sum] = runOp(EMBED, [input, none, ...half], { outputs: 3 }) as Tensor[]
    expect([y.type, sum.type]).toEqual(['float16', 'float16'])
    expectNear(sum, [37, 49, 0, 3, 5, 9, 4, 11])
  })

  test('an empty batch gives empty results', () => {
    const outputs = runOp(EMBED, [ids([], [0, 2]), none, words, positions, none, gamma, beta], { outputs: 3 })
    expect(outputs.map(value => (value as Tensor).dims)).toEqual([[0, 2, 2], [0], [0, 2, 2]])
  })

  test('keeps symbols', () => {
    const table = fact('float32', ['?', 8])
    const row = fact('float32', [8])
    const inputs = [fact('int32', ['n', 's']), none, table, table, none, row, row]
    expect(inferOp(EMBED, inputs, { outputs: 3 }).map(dimsOf)).toEqual([['n', 's', 8], ['n'], ['n', 's', 8]])
  })

  test('an id outside its table is named', () => {
    const far = errorOf(() => runTensor(EMBED, [ids([0, 4], [1, 2]), none, words, positions, none, gamma, beta]))
    expect(far).toMatchObject({ code: 'index-out-of-range', details: { index: '4', position: [0, 1], size: 4 } })
    const inputs = [input, ids([0, 2, 0, 0], [2, 2]), words, positions, segments, gamma, beta]
    expect(errorOf(() => runTensor(EMBED, inputs)).code).toBe('index-out-of-range')
    const negative = [ids([0, -1], [1, 2]), none, words, positions, none, gamma, beta]
    expect(errorOf(() => runTensor(EMBED, negative)).code).toBe('index-out-of-range')
    expect(errorOf(() => inferOp(EMBED, negative)).code).toBe('index-out-of-range')
    const long = [ids([0, 0, 0, 0], [1, 4]), none, words, positions, none, gamma, beta]
    expect(errorOf(() => inferOp(EMBED, long)).code).toBe('index-out-of-range')
  })

  test.each([
    ['ids of rank 1', 0, ids([0], [1]), 'rank-mismatch'],
    ['segments of other ids', 1, ids([0, 0], [2, 1]), 'dims-mismatch'],
    ['a table of rank 1', 2, new Tensor('float32', [1, 2]), 'rank-mismatch'],
    ['a table of other width', 3, new Tensor('float32', [1, 2, 3], [1, 3]), 'dims-mismatch'],
    ['a scale of other width', 5, new Tensor('float32', [1, 2, 3]), 'dims-mismatch'],
    ['a mask of other ids', 7, ids([0, 0, 0], [1, 3]), 'dims-mismatch'],
    ['other positions', 8, ids([0, 0, 0], [1, 3]), 'dims-mismatch'],
    ['positions of another batch', 8, ids([0, 0, 0, 0, 0, 0], [3, 2]), 'dims-mismatch']
  ])('%s are refused', (_, at, wrong, code) => {
    const inputs: (Tensor | undefined)[] = [input, mask, words, positions, segments, gamma, beta, mask, mask]
    inputs[at] = wrong
    expect(errorOf(() => runTensor(EMBED, inputs)).code).toBe(code)
  })
})
