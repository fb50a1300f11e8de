import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { elementCount, Tensor } from '../../../src/tensor/tensor.ts'
import { noise } from '../../wasm/compare.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const GROUP: Kind = ['onnx', 'GroupNorm', 1, 'com.microsoft']
const SKIP: Kind = ['onnx', 'SkipGroupNorm', 1, 'com.microsoft']

interface Options {
  readonly groups: number
  readonly activation: number
  readonly channels_last: number
  readonly epsilon: number
}

/** Sum and result of the formula, element by element. */
function formula(
  [x, scale, shift, skip, bias]: readonly (Tensor | undefined)[],
  { groups, activation, channels_last: isLast, epsilon }: Options
): { sum: number[]; y: number[] } {
  const [d0, d1, d2, d3] = x!.dims
  const channelOf = (i: number): number => (isLast ? i % d3 : Math.floor(i / (d2 * d3)) % d1)
  const batchOf = (i: number): number => Math.floor(i / (d1 * d2 * d3))
  const channels = scale!.dims[0]
  const skipped = (i: number): number => {
    if (skip === undefined) return 0
    const isWhole = skip.data.length === x!.data.length
    return Number(skip.data[isWhole ? i : batchOf(i) * channels + channelOf(i)])
  }
  const sum = Array.from(
    x!.data as Float32Array,
    (value, i) => value + skipped(i) + Number(bias?.data[channelOf(i)] ?? 0)
  )
  const groupOf = (i: number): number => batchOf(i) * groups + Math.floor(channelOf(i) / (channels / groups))
  const members: number[][] = Array.from({ length: d0 * groups }, () => [])
  sum.forEach((value, i) => members[groupOf(i)].push(value))
  const moments = members.map(values => {
    const mean = values.reduce((a, b) => a + b, 0) / values.length
    return { mean, variance: values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length }
  })
  const y = sum.map((value, i) => {
    const { mean, variance } = moments[groupOf(i)]
    const c = channelOf(i)
    const z = ((value - mean) / Math.sqrt(variance + epsilon)) * Number(scale!.data[c]) + Number(shift!.data[c])
    return activation ? z / (1 + Math.exp(-z)) : z
  })
  return { sum, y }
}

/** Dims of data with these channels. */
const dimsWith = (channels: number, isLast: boolean): number[] => (isLast ? [2, 3, 5, channels] : [2, channels, 3, 5])
const lists = (channels: number): Tensor[] => [2, 3].map(seed => noise([channels], seed, 2))

describe.each([0, 1])('channels_last %d', channelsLast => {
  const isLast = channelsLast === 1
  const x = noise(dimsWith(6, isLast), 1, 3)

  test.each([1, 2, 3, 6])('GroupNorm follows the formula with %d groups, also with SiLU', groups => {
    for (const activation of [0, 1]) {
      const attributes = { groups, activation, channels_last: channelsLast, epsilon: 0.01 }
      const inputs = [x, ...lists(6)]
      const out = runTensor(GROUP, inputs, { attributes })
      expect([out.type, out.dims]).toEqual(['float32', x.dims])
      expectNear(out, formula(inputs, attributes).y)
    }
  })

  test('SkipGroupNorm adds a skip connection in each of its forms, and a bias, and gives the sum', () => {
    const forms = [x.dims, isLast ? [2, 1, 1, 6] : [2, 6, 1, 1], [2, 6]]
    for (const dims of forms) {
      for (const bias of [undefined, noise([6], 5)]) {
        const attributes = { groups: 3, activation: 1, channels_last: channelsLast, epsilon: 0.01 }
        const inputs = [x, ...lists(6), noise(dims, 4), bias]
        const [y, sum] = runOp(SKIP, inputs, { attributes, outputs: 2 }) as Tensor[]
        const expected = formula(inputs, attributes)
        expectNear(y, expected.y)
        expectNear(sum, expected.sum)
        expectNear(runTensor(SKIP, inputs, { attributes }), expected.y)
      }
    }
  })
})

test('channels come last and epsilon is 1e-5 where a file does not say', () => {
  const x = noise([1, 2, 2, 4], 1, 0.01)
  const inputs = [x, ...lists(4)]
  const out = runTensor(GROUP, inputs, { attributes: { groups: 2, activation: 0 } })
  // A float attribute has 24 bits.
  const epsilon = Math.fround(1e-5)
  expectNear(out, formula(inputs, { groups: 2, activation: 0, channels_last: 1, epsilon }).y)
})

test('float16 is rounded once; scale and shift may be of either type', () => {
  const attributes = { groups: 2, activation: 1, channels_last: 1, epsilon: 0.01 }
  const half = (tensor: Tensor): Tensor => convert(tensor, 'float16')
  const [x, skip, bias] = [half(noise([2, 3, 5, 4], 1)), half(noise([2, 4], 4)), half(noise([4], 5))]
  const factors = lists(4).map(half)
  const wide = (tensor: Tensor): Tensor => convert(tensor, 'float32')
  const exact = formula([x, ...factors, skip, bias].map(wide), attributes)
  for (const given of [factors, factors.map(wide)]) {
    const [y, sum] = runOp(SKIP, [x, ...given, skip, bias], { attributes, outputs: 2 }) as Tensor[]
    expect([y.type, sum.type]).toEqual(['float16', 'float16'])
    const rounded = (values: number[]): unknown[] => [
      ...convert(new Tensor('float64', values, [values.length]), 'float16').data
    ]
    expect([...y.data]).toEqual(rounded(exact.y))
    expect([...sum.data]).toEqual(rounded(exact.sum))
  }
})

test('operands are not written over', () => {
  const inputs = [noise([1, 2, 2, 4], 1), ...lists(4), noise([1, 4], 4), noise([4], 5)]
  const before = inputs.map(({ data }) => [...(data as Float32Array)])
  runTensor(SKIP, inputs, { attributes: { groups: 2, activation: 1 } })
  expect(inputs.map(({ data }) => [...(data as Float32Array)])).toEqual(before)
})

test('a tensor without elements stays one', () => {
  for (const dims of [
    [0, 2, 3, 4],
    [2, 0, 3, 4]
  ])
    expect(
      runTensor(GROUP, [iota(dims), iota([4]), iota([4])], { attributes: { groups: 2, activation: 1 } }).dims
    ).toEqual(dims)
  expect(elementCount([2, 0, 3, 4])).toBe(0)
})

test('symbols are kept, and lists tell how many channels there are', () => {
  const inputs = [fact('float16', ['n', 'h', 'w', '?']), fact('float32', ['?']), fact('float32', [8])]
  const attributes = { groups: 4, activation: 0 }
  expect(dimsOf(inferOp(GROUP, inputs, { attributes })[0])).toEqual(['n', 'h', 'w', 8])
  const facts = inferOp(SKIP, [...inputs, fact('float16', ['n', 8])], { attributes, outputs: 2 })
  expect(facts.map(dimsOf)).toEqual([
    ['n', 'h', 'w', 8],
    ['n', 'h', 'w', 8]
  ])
  const unknown = [fact('float32', undefined), fact('float32', undefined), fact('float32', undefined)]
  expect(dimsOf(inferOp(GROUP, unknown, { attributes })[0])).toBeUndefined()
})

const [x, list] = [iota([2, 3, 5, 4]), iota([4])]
const plain = { groups: 2, activation: 0 }
test.each([
  ['rank 3', [iota([2, 5, 4]), list, list], plain, 'rank-mismatch'],
  ['rank 5', [iota([2, 1, 3, 5, 4]), list, list], plain, 'rank-mismatch'],
  ['a scale of rank 2', [x, iota([1, 4]), list], plain, 'rank-mismatch'],
  ['a shift of another size', [x, list, iota([3])], plain, 'dims-mismatch'],
  ['lists for the channels of the other layout', [x, list, list], { ...plain, channels_last: 0 }, 'dims-mismatch'],
  ['float64', [iota([2, 3, 5, 4], 'float64'), list, list], plain, 'type-not-allowed'],
  ['scale and shift of two types', [x, iota([4], 'float16'), list], plain, 'type-mismatch'],
  ['groups that do not divide the channels', [x, list, list], { groups: 3, activation: 0 }, 'shape-mismatch'],
  ['no groups', [x, list, list], { groups: 0, activation: 0 }, 'unknown-attribute-value'],
  ['another activation', [x, list, list], { groups: 2, activation: 2 }, 'unknown-attribute-value'],
  ['a negative epsilon', [x, list, list], { ...plain, epsilon: -1 }, 'unknown-attribute-value'],
  ['no activation attribute', [x, list, list], { groups: 2 }, 'missing-attribute'],
  ['no number of groups', [x, list, list], { activation: 0 }, 'missing-attribute']
] as const)('GroupNorm refuses %s', (_, inputs, attributes, code) => {
  expect(errorOf(() => runTensor(GROUP, inputs, { attributes })).code).toBe(code)
})

test.each([
  ['no skip connection', [undefined], 'wrong-input-count'],
  ['one of another batch', [iota([1, 4])], 'dims-mismatch'],
  ['one of other positions', [iota([2, 3, 1, 4])], 'dims-mismatch'],
  ['one that only has channels', [iota([4])], 'rank-mismatch'],
  ['one of another type', [iota([2, 4], 'float16')], 'type-mismatch'],
  ['a bias of rank 2', [iota([2, 4]), iota([2, 4])], 'rank-mismatch'],
  ['a bias of another size', [iota([2, 4]), iota([3])], 'dims-mismatch']
] as const)('SkipGroupNorm refuses %s', (_, more, code) => {
  expect(errorOf(() => runTensor(SKIP, [x, list, list, ...more], { attributes: plain })).code).toBe(code)
})
