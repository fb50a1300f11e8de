import { describe, expect, test } from 'vitest'
import type { ConvPlan } from '../../../src/kernels/conv/conv-plan.ts'
import { convolve } from '../../../src/kernels/conv/conv.ts'
import { NUMERIC } from '../../../src/op-kit/types.ts'
import { convert } from '../../../src/tensor/convert.ts'
import { type DType, is64BitInteger } from '../../../src/tensor/dtype.ts'
import { allocate, elementCount, Tensor } from '../../../src/tensor/tensor.ts'
import { picks } from '../../ops/random.ts'
import { axisOf, pairsOf } from '../window-pairs.ts'

const finish = (steps: Generator<void>): number => {
  let yields = 0
  while (!steps.next().done) yields++
  return yields
}

/** Small integers, which every type holds and every order of summation adds to the same. */
const random = (type: DType, dims: readonly number[], seed: number): Tensor =>
  convert(
    new Tensor(
      'int32',
      Array.from({ length: elementCount(dims) }, (_, i) => picks(seed * 1000 + i, 7) - 3),
      dims
    ),
    type
  )

interface Sizes {
  readonly elements: readonly number[]
  readonly windows: readonly number[]
  readonly weights: readonly number[]
}

const sizesOf = ({ batch, groups, windowChannels, elementChannels, axes }: ConvPlan): Sizes => ({
  elements: [batch, groups * elementChannels, ...axes.map(axis => axis.size)],
  windows: [batch, groups * windowChannels, ...axes.map(axis => axis.count)],
  weights: [groups * windowChannels, elementChannels, ...axes.map(axis => axis.kernel)]
})

/** The sums of the definition, of so small integers that doubles hold them. */
function naive(x: Tensor, w: Tensor, bias: Tensor | undefined, plan: ConvPlan, isTransposed: boolean): Float64Array {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { elements, windows } = sizesOf(plan)
  const [elementPlane, windowPlane] = [elementCount(elements.slice(2)), elementCount(windows.slice(2))]
  const taps = elementCount(axes.map(axis => axis.kernel))
  const pairs = pairsOf(axes)
  const [numbers, weights] = [Float64Array.from(x.data as Float32Array), Float64Array.from(w.data as Float32Array)]
  const channels = groups * (isTransposed ? elementChannels : windowChannels)
  const out = new Float64Array(elementCount(isTransposed ? elements : windows))
  if (bias)
    for (let i = 0; i < out.length; i++)
      out[i] = Number(bias.data[Math.floor(i / (isTransposed ? elementPlane : windowPlane)) % channels])
  for (let n = 0; n < batch; n++) {
    for (let g = 0; g < groups; g++) {
      for (let o = 0; o < windowChannels; o++) {
        for (let e = 0; e < elementChannels; e++) {
          for (const { window, tap, element } of pairs) {
            const weight = weights[((g * windowChannels + o) * elementChannels + e) * taps + tap]
            const at = ((n * groups + g) * windowChannels + o) * windowPlane + window
            const from = ((n * groups + g) * elementChannels + e) * elementPlane + element
            if (isTransposed) out[from] += weight * numbers[at]
            else out[at] += weight * numbers[from]
          }
        }
      }
    }
  }
  return out
}

const planOf = (seed: number): ConvPlan => ({
  batch: 1 + picks(seed, 2),
  groups: 1 + picks(seed + 1, 3),
  windowChannels: 1 + picks(seed + 2, 6),
  elementChannels: 1 + picks(seed + 3, 3),
  axes: Array.from({ length: 1 + picks(seed + 4, 3) }, (_, a) =>
    axisOf({
      size: 3 + picks(seed + a * 5 + 5, 4),
      kernel: 1 + picks(seed + a * 5 + 6, 3),
      stride: 1 + picks(seed + a * 5 + 7, 2),
      begin: picks(seed + a * 5 + 8, 2),
      end: picks(seed + a * 5 + 9, 2)
    })
  )
})

describe('convolve', () => {
  for (const isTransposed of [false, true]) {
    test(`equals the definition for random ${isTransposed ? 'transposed ' : ''}convolutions of every type`, () => {
      for (let seed = 1; seed <= 60; seed++) {
        const plan = planOf(seed * 17)
        const { elements, windows, weights } = sizesOf(plan)
        const type = NUMERIC[seed % NUMERIC.length]
        const x = random('int32', isTransposed ? windows : elements, seed)
        const w = random('int32', weights, seed + 1)
        const outDims = isTransposed ? elements : windows
        const bias = seed % 2 === 0 ? random('int32', [outDims[1]], seed + 2) : undefined
        const out = allocate(type, outDims)
        finish(convolve(convert(x, type), convert(w, type), bias && convert(bias, type), out, plan, isTransposed))
        const sums = naive(x, w, bias, plan, isTransposed)
        const expected = convert(new Tensor('int32', Int32Array.from(sums), outDims), type)
        expect([...(out.data as Float32Array)], `seed ${seed} ${type}`).toEqual([...(expected.data as Float32Array)])
      }
    })
  }

  test('cuts planes that are too large for its columns', () => {
    const axes = [axisOf({ size: 90, kernel: 3, begin: 1, end: 1 }), axisOf({ size: 70, kernel: 3 })]
    const plan: ConvPlan = { batch: 1, groups: 1, windowChannels: 4, elementChannels: 12, axes }
    const { elements, windows, weights } = sizesOf(plan)
    const [x, w] = [random('float32', elements, 1), random('float32', weights, 2)]
    const out = allocate('float64', windows)
    const transposed = allocate('float64', elements)
    finish(convolve(convert(x, 'float64'), convert(w, 'float64'), undefined, out, plan))
    expect([...out.data]).toEqual([...naive(x, w, undefined, plan, false)])
    const y = random('float32', windows, 3)
    finish(convolve(convert(y, 'float64'), convert(w, 'float64'), undefined, transposed, plan, true))
    expect([...transposed.data]).toEqual([...naive(y, w, undefined, plan, true)])
  })

  test('yields on the way', () => {
    const axes = [axisOf({ size: 64, kernel: 3 }), axisOf({ size: 64, kernel: 3 })]
    const plan: ConvPlan = { batch: 1, groups: 1, windowChannels: 32, elementChannels: 64, axes }
    const { elements, windows, weights } = sizesOf(plan)
    const [x, w, y] = [allocate('float32', elements), allocate('float32', weights), allocate('float32', windows)]
    expect(finish(convolve(x, w, undefined, allocate('float32', windows), plan))).toBeGreaterThan(2)
    expect(finish(convolve(y, w, undefined, allocate('float32', elements), plan, true))).toBeGreaterThan(2)
    const few = { ...plan, windowChannels: 2 }
    expect(finish(convolve(x, w, undefined, allocate('float32', sizesOf(few).windows), few))).toBeGreaterThan(1)
  })

  test('large 32-bit and 64-bit integers wrap', () => {
    const plan: ConvPlan = { batch: 1, groups: 1, windowChannels: 1, elementChannels: 2, axes: [axisOf({ size: 1 })] }
    const largest = [
      ['int32', 0x7fffffff, 2],
      ['uint32', 0xffffffff, 2],
      ['int64', 2n ** 63n - 1n, 2n],
      ['uint64', 2n ** 64n - 1n, 2n]
    ] as const
    for (const [type, value, expected] of largest) {
      const data = is64BitInteger(type) ? [value, value] : [Number(value), Number(value)]
      const out = allocate(type, [1, 1, 1])
      finish(convolve(new Tensor(type, data, [1, 2, 1]), new Tensor(type, data, [1, 2, 1]), undefined, out, plan))
      expect(out.data[0], type).toBe(expected)
    }
  })

  test('an empty result takes no time whatever the other dims are', () => {
    const axes = [axisOf({ size: 2 ** 40 }), axisOf({ size: 2 ** 5 })]
    const plan: ConvPlan = { batch: 0, groups: 1, windowChannels: 4, elementChannels: 1, axes }
    const [x, w, out] = [
      [0, 1, 2 ** 40, 32],
      [4, 1, 1, 1],
      [0, 4, 2 ** 40, 32]
    ].map(dims => allocate('float32', dims))
    expect(finish(convolve(x, w, undefined, out, plan))).toBe(0)
  })

  test('without input channels there is the bias', () => {
    const plan: ConvPlan = { batch: 1, groups: 1, windowChannels: 5, elementChannels: 0, axes: [axisOf({ size: 2 })] }
    const out = allocate('float32', [1, 5, 2])
    finish(
      convolve(
        allocate('float32', [1, 0, 2]),
        allocate('float32', [5, 0, 1]),
        new Tensor('float32', [1, 2, 3, 4, 5]),
        out,
        plan
      )
    )
    expect([...out.data]).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
  })
})
