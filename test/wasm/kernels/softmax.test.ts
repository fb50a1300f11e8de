import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

/** Shares of the largest magnitude that sums in float32 may be off by. */
const TOLERANCE = 5e-7

const softmaxes = [
  ['onnx', 'Softmax', 13],
  ['onnx', 'LogSoftmax', 13]
] as const

describe.each(['heap', 'array'] as const)('softmax of float32 in WebAssembly, operands in an %s', region => {
  test.each(softmaxes)('%s %s-%i along an axis', (...kind) => {
    for (const [dims, axis] of [
      [[3, 5, 100], -1],
      [[70, 7], 1],
      [[1000, 1], 0],
      [[301], 0],
      [[7, 33, 45], 1],
      [[300, 1, 3], 0],
      [[2, 3, 50, 16], -2],
      [[400, 1], 1],
      [[400, 2], 1]
    ] as const)
      expectEqual(kind, [noise(dims, 1, 9)], { region, attributes: { axis } }, TOLERANCE)
  })

  test('over all axes from one on, before version 13', () => {
    expectEqual(['onnx', 'Softmax', 11], [noise([5, 7, 31], 1, 9)], { region, attributes: { axis: 1 } }, TOLERANCE)
    expectEqual(['onnx', 'LogSoftmax', 1], [noise([5, 7, 31], 1, 9)], { region, attributes: { axis: 0 } }, TOLERANCE)
  })

  test('of OpenVINO', () => {
    const x = noise([4, 100, 9], 2, 30)
    expectEqual(['openvino', 'SoftMax', 1], [x], { region, attributes: { axis: '1' } }, TOLERANCE)
    expectEqual(['openvino', 'SoftMax', 8], [x], { region, attributes: { axis: '-1' } }, TOLERANCE)
    expectEqual(['openvino', 'LogSoftmax', 5], [x], { region, attributes: { axis: '1' } }, TOLERANCE)
  })

  test.each(softmaxes)('%s %s-%i with infinities, NaN, masks and large numbers', (...kind) => {
    for (const [dims, axis] of [
      [[8, 61], 1],
      [[61, 8], 0],
      [[61, 7], 0]
    ] as const) {
      const data = Float32Array.from(noise(dims, 3).data)
      const strides = axis === 1 ? [61, 1] : [1, dims[1]]
      const put = (line: number, at: number, value: number): void => {
        data[line * strides[0] + at * strides[1]] = value
      }
      put(0, 3, NaN)
      put(1, 60, NaN)
      put(2, 5, Infinity)
      put(3, 0, -Infinity)
      for (let i = 0; i < 61; i++) put(4, i, -Infinity)
      for (let i = 0; i < 61; i++) put(5, i, i < 20 ? 1 + i / 7 : -3.4028234663852886e38)
      put(6, 4, 3e38)
      expectEqual(kind, [new Tensor('float32', data, dims)], { region, attributes: { axis } }, TOLERANCE)
    }
  })

  test('shared by two threads', () => {
    expectEqual(['onnx', 'Softmax', 13], [noise([300, 401], 1)], { region, threads: 2 }, TOLERANCE)
    expectEqual(
      ['onnx', 'Softmax', 13],
      [noise([30, 11, 401], 1)],
      { region, threads: 2, attributes: { axis: 1 } },
      TOLERANCE
    )
  })
})

// Differences from the highest of up to 8 are rounded by at most 2.4e-7, which becomes a share of the result.
test('every element is within 4.5e-7 of float64, as a share of it, and 1e-10 more for each element of the line', () => {
  for (const size of [8, 200, 5000]) {
    const x = noise([40, size], 5, 4)
    const [y] = runAccelerated(['onnx', 'Softmax', 13], [x]) as [Tensor]
    for (let row = 0; row < 40; row++) {
      const line = Array.from(x.data.subarray(row * size, (row + 1) * size))
      const sum = line.reduce((total, value) => total + Math.exp(value), 0)
      const errors = line.map((value, i) => {
        const expected = Math.exp(value) / sum
        return Math.abs(Number(y.data[row * size + i]) - expected) / expected
      })
      expect(Math.max(...errors)).toBeLessThan(4.5e-7 + size * 1e-10)
    }
  }
})

test('of float64 equals the reference on any shape and axis, with infinities and NaN', () => {
  // Sums of up to 40 numbers, in two orders, differ by a few roundings of 1.1e-16.
  const tolerance = 2e-15
  const edges = [NaN, Infinity, -Infinity, -800, 710, -1e308, 1e308, -745.1, 0]
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 1, max: 2 ** 30 }),
      fc.boolean(),
      fc.constantFrom(0, 7, 97),
      (given, at, seed, isLog, every) => {
        const dims = product(given) < 32 ? [...given, 32] : given
        const data = Float64Array.from(noise(dims, seed, 30).data)
        if (every > 0)
          for (let i = seed % every; i < data.length; i += every) data[i] = edges[(i + seed) % edges.length]
        const x = new Tensor('float64', data, dims)
        const attributes = { axis: at % dims.length }
        expectEqual(['onnx', isLog ? 'LogSoftmax' : 'Softmax', 13], [x], { attributes, region: 'array' }, tolerance)
      }
    ),
    { numRuns: 150 }
  )
})

test('of float64 along short rows, an odd one behind the pairs, with infinities and NaN in one of a pair', () => {
  for (let size = 1; size <= 9; size++) {
    const data = Float64Array.from(noise([33, size], size, 30).data)
    for (const [i, value] of [NaN, Infinity, -Infinity].entries()) data[(5 * i + 3) * size + (i % size)] = value
    const x = new Tensor('float64', data, [33, size])
    for (const kind of softmaxes) expectEqual(kind, [x], {}, 2e-15)
  }
})

test('of float64 every element is within 1e-15 of the reference, as a share of it', () => {
  for (const dims of [
    [60, 301],
    [301, 61]
  ])
    for (const axis of [0, 1]) {
      const x = new Tensor('float64', Float64Array.from(noise(dims, 3, 40).data), dims)
      const kind = ['onnx', 'Softmax', 13] as const
      const options = { attributes: { axis } }
      const [found, wanted] = [runAccelerated(kind, [x], options)[0], runOp(kind, [x], options)[0]] as Tensor[]
      const isNear = (value: unknown, i: number): boolean =>
        Math.abs(Number(found.data[i]) - Number(value)) <= 1e-15 * Number(value)
      expect(Array.from(wanted.data as Float64Array).every(isNear)).toBe(true)
    }
})

test('few elements, none, and other types are left to the reference', () => {
  const doubles = new Tensor('float64', new Float64Array(0), [40, 0])
  for (const x of [noise([10], 1), noise([0, 300], 1), noise([300, 0], 1), doubles])
    expect(() => runAccelerated(['onnx', 'Softmax', 13], [x])).toThrow('no accelerated kernel')
})

test('elements far below the highest become 0, or are off by less than the smallest normal number', () => {
  const line = [0, -86, -87.2, -87.6, -87.8, -88.2, -104, -1e38, -Infinity]
  const x = new Tensor('float32', Array.from({ length: 128 }, () => line).flat(), [128, line.length])
  const [y] = runAccelerated(['onnx', 'Softmax', 13], [x]) as [Tensor]
  for (let i = 0; i < x.data.length; i++)
    expect(Math.abs(Number(y.data[i]) - Math.exp(line[i % line.length]))).toBeLessThan(
      1.2e-38 + 2e-7 * Math.exp(line[i % line.length])
    )
})
