import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../src/tensor/arrays.ts'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { packFactor } from '../../../src/wasm/kernels/matrix.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { expectEqual, noise, onHeap } from '../compare.ts'
import { heldBy } from '../held.ts'

type Narrow = 'float16' | 'bfloat16'

/** Noise of these dims that was rounded to 16 bits, with numbers at the ends of their range. */
function rounded(dims: readonly number[], seed: number, type: Narrow): Tensor<'float32'> {
  const wide = noise(dims, seed)
  const smallest = type === 'float16' ? 2 ** -24 : 2 ** -126
  wide.data.set([0, -0, smallest, -3 * smallest, 2 ** -14, 1000 * smallest, -(2 ** -15), 1.5])
  return convert(convert(wide, type), 'float32')
}

/** The type of the panels that a factor is packed into. */
function packedType(factor: Tensor, mayNarrow = true): string | undefined {
  const context = {
    threads: 1,
    allocate: (type: DType, dims: readonly number[]) => onHeap(convert(noise(dims, 1), type))
  }
  const work = packFactor(onHeap(factor), false, context, mayNarrow)
  let step = work.next()
  while (!step.done) step = work.next()
  return step.value?.type
}

describe.each(['float16', 'bfloat16'] as const)('weights that were widened from %s', type => {
  test.each([
    [1, 1320, 400],
    [1, 512, 1024],
    [2, 650, 811],
    [3, 1300, 409],
    [4, 3301, 160],
    [4, 450, 1172],
    [7, 1901, 278],
    [70, 4000, 137],
    // By Strassen's algorithm, with one panel left, two, and whole ones.
    [67, 2010, 262],
    [83, 1516, 351],
    [72, 1500, 352],
    // One sum of such a depth would be too inaccurate.
    [1, 6000, 88],
    [3, 6000, 88],
    [4, 6000, 88]
  ])('in panels of 16 bits give the products of the reference: %i x %i x %i', (m, k, n) => {
    const b = rounded([k, n], 2, type)
    expect(packedType(b)).toBe(type === 'float16' ? 'uint16' : type)
    const inputs = [noise([m, k], 1), b]
    expectEqual(['onnx', 'MatMul', 13], inputs, { constants: { b: 1 } }, 2e-6)
    const c = noise([n], 3)
    const turned = new Tensor('float32', transposedOf(b), [n, k])
    const attributes = { transB: 1, alpha: 0.5 }
    expectEqual(
      ['onnx', 'Gemm', 13],
      [inputs[0], turned, c],
      { attributes, constants: { b: 1 }, region: 'array' },
      2e-6
    )
  })

  test('large and small factors neither overflow nor vanish', () => {
    const [k, n] = [2010, 262]
    const b = rounded([k, n], 2, type)
    for (const scale of [1e-30, 1e30])
      expectEqual(['onnx', 'MatMul', 13], [noise([1, k], 1, scale), b], { constants: { b: 1 } })
  })

  test('rows and panels of small numbers among large ones are multiplied as defined', () => {
    const [m, k, n] = [66, 1900, 280]
    const b = rounded([k, n], 2, type)
    const mixed = noise([m, k], 1)
    for (let i = 40 * k; i < mixed.data.length; i++) mixed.data[i] *= 1e-4
    expectEqual(['onnx', 'MatMul', 13], [mixed, b], { constants: { b: 1 } })
    const narrow = convert(
      convert(
        new Tensor(
          'float32',
          b.data.map((x, i) => (i % n < 8 ? x / 64 : x)),
          [k, n]
        ),
        type
      ),
      'float32'
    )
    expectEqual(['onnx', 'MatMul', 13], [noise([m, k], 1), narrow], { constants: { b: 1 } })
  })

  test.each([NaN, Infinity, -Infinity])('%d in a row leaves the sums of its neighbours as they are', number => {
    const [k, n] = [1024, 512]
    const wide = noise([k, n], 2, 2 ** -22)
    const b = convert(convert(wide, type), 'float32')
    expect(packedType(b)).toBe(type === 'float16' ? 'uint16' : type)
    for (const row of [0, 1, 2, 3]) {
      const a = noise([4, k], 1)
      a.data.fill(number, row * k, (row + 1) * k)
      expectEqual(['onnx', 'MatMul', 13], [a, b], { constants: { b: 1 } }, 2e-6)
    }
  })

  test('are panels of float32 where one number has more digits, or there are few', () => {
    const b = rounded([1320, 400], 2, type)
    b.data[527_999] = 0.1
    expect(packedType(b)).toBe('float32')
    expect(packedType(rounded([1300, 400], 2, type))).toBe('float32')
    expect(packedType(rounded([1320, 400], 2, type), false)).toBe('float32')
  })
})

test.each([Infinity, -Infinity, NaN, 128, 2 ** -25, 1 + 2 ** -11])('float16 has no %d of panels', number => {
  const b = rounded([1320, 400], 2, 'float16')
  b.data[7] = number
  expect(packedType(b)).toBe('float32')
})

test.each(['Cast', 'MatMul'] as const)('weights of float16 take what they take in the file: %s', async first => {
  const [k, n] = [512, 1024]
  const weights = convert(noise([k, n], 1), 'float16')
  const bytes = onnxBytes({
    inputs: [port('x', 'float', [1, k])],
    outputs: [port('y', 'float', [1, n])],
    initializers: [{ name: 'w', dims: [k, n], dataType: 10, rawData: bytesOf(weights.data) }],
    nodes:
      first === 'Cast'
        ? [node('Cast', ['w'], ['wide'], { to: 1 }), node('MatMul', ['x', 'wide'], ['y'])]
        : [
            node('Cast', ['x'], ['half'], { to: 10 }),
            node('MatMul', ['half', 'w'], ['product']),
            node('Cast', ['product'], ['y'], { to: 1 })
          ]
  })
  expect(await heldBy(bytes, { x: noise([1, k], 2) }, 2)).toBeLessThan(1.15 * 2 * k * n)
})

function transposedOf({ data, dims: [rows, columns] }: Tensor<'float32'>): Float32Array {
  const result = new Float32Array(data.length)
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) result[j * rows + i] = data[i * columns + j]
  return result
}
