import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { heapAllocate } from '../../../src/wasm/heap.ts'
import { type Product, productTemplate } from '../../../src/wasm/kernels/matrix.ts'
import { runTiles } from '../../../src/wasm/open-job.ts'
import { runnerOf, writeHeader } from '../../../src/wasm/shared-jobs.ts'
import { inWholeTiles } from '../../../src/wasm/tiling.ts'
import { workspaceOf } from '../../../src/wasm/workspace.ts'
import { runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

const sizes = [
  [1, 64, 200],
  [1, 70, 413],
  [1, 76, 600],
  [1, 41, 1100],
  [2, 50, 203],
  [3, 33, 130],
  [4, 8, 300],
  [7, 29, 513],
  [64, 48, 40],
  [5, 1030, 6],
  // One sum of such a depth would be too inaccurate.
  [2, 52, 6000],
  [3, 40, 6000],
  [4, 40, 6000],
  // Few rows through the whole depth of a panel; the last ones have too many elements for that.
  [5, 45, 700],
  [6, 64, 513],
  [12, 41, 1030],
  [9, 40, 6000],
  [20, 12, 6000]
] as const

describe.each(['heap', 'array'] as const)('products of float32 matrices in WebAssembly, operands in an %s', region => {
  test.each(sizes)('equal the reference for %i x %i x %i, plain and packed', (m, n, k) => {
    const inputs = [noise([m, k], 1), noise([k, n], 2)]
    expectEqual(['onnx', 'MatMul', 13], inputs, { region })
    expectEqual(['onnx', 'MatMul', 13], inputs, { region, constants: { b: 1 } })
  })

  test.each([
    [
      [2, 3, 20, 40],
      [40, 36]
    ],
    [
      [2, 3, 20, 40],
      [3, 40, 36]
    ],
    [
      [3, 20, 40],
      [5, 3, 40, 36]
    ],
    [
      [4, 1, 20, 40],
      [1, 3, 40, 36]
    ],
    [
      [2, 1, 1, 40],
      [2, 3, 40, 200]
    ],
    [[40], [3, 40, 36]],
    [[2, 3, 20, 40], [40]],
    [[40], [40, 130]],
    [[70], [70]]
  ])('broadcast batches, and take lists, as the reference does: %j by %j', (a, b) => {
    expectEqual(['onnx', 'MatMul', 13], [noise(a, 1), noise(b, 2)], { region })
    expectEqual(['onnx', 'MatMul', 13], [noise(a, 1), noise(b, 2)], { region, constants: { b: 1 } })
  })

  test.each([
    ['false', 'true'],
    ['true', 'false'],
    ['true', 'true']
  ])('read factors that are transposed: %s, %s', (transposeA, transposeB) => {
    const a = transposeA === 'true' ? [3, 50, 21] : [3, 21, 50]
    const b = transposeB === 'true' ? [37, 50] : [50, 37]
    const attributes = { transpose_a: transposeA, transpose_b: transposeB }
    const inputs = [noise(a, 3), noise(b, 4)]
    expectEqual(['openvino', 'MatMul', 1], inputs, { region, attributes })
    expectEqual(['openvino', 'MatMul', 1], inputs, { region, attributes, constants: { b: 1 } })
  })

  test.each([
    ['false', 'false', 1],
    ['false', 'true', 1],
    ['true', 'false', 2],
    ['true', 'true', 1],
    ['true', 'true', 3]
  ])('of few rows read B as it lies: transposed %s, %s; %i rows', (transposeA, transposeB, rows) => {
    const a = transposeA === 'true' ? [2, 3, 70, rows] : [2, 3, rows, 70]
    const b = transposeB === 'true' ? [3, 91, 70] : [3, 70, 91]
    const attributes = { transpose_a: transposeA, transpose_b: transposeB }
    expectEqual(['openvino', 'MatMul', 1], [noise(a, 3), noise(b, 4)], { region, attributes })
  })

  test.each([[[30]], [[1, 30]], [[20, 1]], [[20, 30]], [[]], [[1]], [[1, 1]]])('of Gemm add C of dims %j', c => {
    const inputs = [noise([20, 25], 1), noise([25, 30], 2), noise(c, 3)]
    expectEqual(['onnx', 'Gemm', 13], inputs, { region })
    expectEqual(['onnx', 'Gemm', 13], inputs, { region, constants: { b: 1 } })
    for (const beta of [0.5, -3])
      for (const constants of [{}, { b: 1 }, { b: 1, c: 2 }])
        expectEqual(['onnx', 'Gemm', 13], inputs, { region, attributes: { alpha: 0.3, beta }, constants })
  })

  test.each([
    [[6, 20, 40], [6, 40, 36], { alpha: -0.125 }],
    [[20, 6, 40], [6, 40, 36], { transBatchA: 1, alpha: 0.3 }],
    [[40, 6, 20], [36, 6, 40], { transBatchA: 1, transA: 1, transBatchB: 1, transB: 1 }],
    [[20, 2, 3, 40], [40, 3, 36], { transBatchA: 1, transBatchB: 1 }],
    [[2, 1, 30, 40], [1, 5, 40], { transBatchB: 1, transB: 1, alpha: 2 }],
    [[3, 40, 20], [40, 36], { transA: 1, alpha: 0.5 }],
    [[30, 40, 1], [40, 36], { transA: 1 }],
    [[1, 30, 40], [40, 36], { transBatchA: 1 }]
  ])('are scaled, and their batches moved, as the reference does: %j by %j, %j', (a, b, attributes) => {
    const inputs = [noise(a, 3), noise(b, 4)]
    expectEqual(['onnx', 'FusedMatMul', 1, 'com.microsoft'], inputs, { region, attributes })
    expectEqual(['onnx', 'FusedMatMul', 1, 'com.microsoft'], inputs, { region, attributes, constants: { b: 1 } })
  })

  test.each([
    { activation: 'Relu' },
    { activation: 'Sigmoid' },
    { activation: 'Tanh' },
    { activation: 'LeakyRelu', activation_alpha: 0.2 },
    { activation: 'Elu', activation_alpha: 0.7 },
    { activation: 'HardSigmoid', activation_alpha: 0.3, activation_beta: 0.4 },
    {}
  ])('of FusedGemm end with an activation: %j', fn => {
    const attributes = { ...fn, alpha: 0.5, transB: 1 }
    const inputs = [noise([20, 25], 1), noise([30, 25], 2), noise([20, 1], 3)]
    expectEqual(['onnx', 'FusedGemm', 1, 'com.microsoft'], inputs, { region, attributes })
    expectEqual(['onnx', 'FusedGemm', 1, 'com.microsoft'], inputs.slice(0, 2), {
      region,
      attributes,
      constants: { b: 1 }
    })
  })

  // Tiles have four to six rows, or one where three or fewer are left. Columns that end within a panel, and the sums of
  // a second block of the depth, are made apart. Of few columns rows are read where they lie.
  test.each([
    [8, 20],
    [11, 20],
    [37, 20],
    [32, 300],
    [37, 263]
  ])('of 4 to 30 rows equal the reference, for %i columns and a depth of %i', (n, k) => {
    const b = noise([k, n], 2)
    for (let m = 4; m <= 30; m++)
      expectEqual(['onnx', 'MatMul', 13], [noise([m, k], m), b], { region, constants: { b: 1 } })
  })

  test.each([
    [64, 64, 384],
    [67, 70, 388],
    [67, 77, 388],
    [65, 95, 384],
    [83, 88, 516],
    [72, 90, 1100]
  ])('by Strassen equal the reference for %i x %i x %i', (m, n, k) => {
    const inputs = [noise([m, k], 1), noise([k, n], 2)]
    expectEqual(['onnx', 'MatMul', 13], inputs, { region, constants: { b: 1 } })
    expectEqual(['onnx', 'MatMul', 13], inputs, { region, constants: { b: 1 }, threads: 2 })
  })

  test('are shared by two threads', () => {
    expectEqual(['onnx', 'MatMul', 13], [noise([128, 256], 1), noise([256, 300], 2)], { region, threads: 2 })
    const row = [noise([1, 600], 1), noise([600, 1000], 2)]
    expectEqual(['onnx', 'MatMul', 13], row, { region, threads: 2, constants: { b: 1 } })
  })
})

describe('products by Strassen, which add up rows of A and panels of B', () => {
  const [m, n, k] = [66, 72, 384]
  const scaled = (tensor: Tensor<'float32'>, scaleOf: (row: number, column: number) => number): Tensor<'float32'> => {
    const columns = tensor.dims[1]
    return new Tensor(
      'float32',
      tensor.data.map((x, i) => x * scaleOf(Math.floor(i / columns), i % columns)),
      tensor.dims
    )
  }
  const [a, b] = [noise([m, k], 1), noise([k, n], 2)]

  test.each([
    ['rows of', scaled(a, row => (row < 40 ? 1 : 1e-4)), b, (at: number) => at >= 40 * n],
    ['panels of', a, scaled(b, (_, column) => (column < 8 ? 1e-4 : 1)), (at: number) => at % n < 8]
  ] as const)('keep small %s numbers as exact as large ones', (_, left, right, isSmall) => {
    const small = (outputs: readonly unknown[]) => {
      const data = (outputs[0] as Tensor<'float32'>).data.filter((_, at) => isSmall(at))
      return new Tensor('float32', data, [data.length])
    }
    const found = runAccelerated(['onnx', 'MatMul', 13], [left, right], { constants: { b: 1 } })
    expect(differenceOf(small(found), small(runOp(['onnx', 'MatMul', 13], [left, right])))).toBeLessThanOrEqual(1e-6)
  })

  test.each([NaN, Infinity])('keep %d in its row and its column', value => {
    const left = scaled(a, (row, column) => (row === 3 && column === 5 ? value : 1))
    const right = scaled(b, (row, column) => (row === 7 && column === 20 ? value : 1))
    expectEqual(['onnx', 'MatMul', 13], [left, b], { constants: { b: 1 } })
    expectEqual(['onnx', 'MatMul', 13], [a, right], { constants: { b: 1 } })
  })
})

test.each([384, 768, 1536])('products by Strassen of a depth of %i err at most 2.1 times as much as sums of 128', k => {
  const [m, n] = [64, 72]
  const [a, b] = [noise([m, k], 1), noise([k, n], 2)]
  const exact = (runOp(['onnx', 'MatMul', 13], [a, b])[0] as Tensor<'float32'>).data
  const found = runAccelerated(['onnx', 'MatMul', 13], [a, b], { constants: { b: 1 } })[0] as Tensor<'float32'>
  const errorOf = (sums: Float32Array): number => Math.sqrt(sums.reduce((all, x, i) => all + (x - exact[i]) ** 2, 0))
  expect(errorOf(found.data)).toBeLessThanOrEqual(2.1 * errorOf(sumsOfSpans(a.data, b.data, { m, n, k, span: 128 })))
})

/** A product in float32 whose sums are made in spans of the depth, which are then added up. */
function sumsOfSpans(
  a: Float32Array,
  b: Float32Array,
  { m, n, k, span }: { m: number; n: number; k: number; span: number }
): Float32Array {
  const sums = new Float32Array(m * n)
  for (let from = 0; from < k; from += span) {
    const part = new Float32Array(m * n)
    for (let row = 0; row < m; row++)
      for (let d = from; d < from + span; d++) {
        const x = a[row * k + d]
        for (let column = 0; column < n; column++) part[row * n + column] += Math.fround(x * b[d * n + column])
      }
    for (let i = 0; i < sums.length; i++) sums[i] += part[i]
  }
  return sums
}

test.each([
  ['two blocks', 300],
  ['one block', 80]
])('tiles of products by Strassen share what is made of rows in %s, each job anew', (_, m) => {
  const workspace = workspaceOf()!
  const [n, k] = [72, 384]
  const floats = (count: number): Float32Array => {
    const { buffer, byteOffset } = heapAllocate(4 * count)!
    return new Float32Array(buffer, byteOffset, count)
  }
  const [a, b, c] = [m * k, n * k, m * n].map(floats)
  a.set(noise([m, k], 1).data)
  b.set(noise([n, k], 2).data)
  // In the second slab this row has much larger numbers than the one that it is added to.
  for (let i = 200; i < 300; i++) a[5 * k + i] *= 1e4
  const steps = { aRow: 4 * k, aElement: 4, bRow: 0, bColumn: 0 }
  const product: Product = { m, n, k, ...steps, batches: 1, loops: [] }
  const template = productTemplate(product, { activation: undefined }, 'float32')
  const compute = (tile: number): Float32Array => {
    const tiling = inWholeTiles(template.blocks, tile)
    writeHeader(template, workspace.header, workspace.args.byteOffset, tiling)
    workspace.args.set([a.byteOffset, b.byteOffset, 0, 0, c.byteOffset, ...template.args])
    c.fill(NaN)
    runTiles(runnerOf('matrix', workspace.accelerated), workspace, tiling, 0)
    return c.slice()
  }
  const whole = compute(template.blocks)
  expect(whole.some(Number.isNaN)).toBe(false)
  for (const tile of [1, 2, 3]) expect(compute(tile)).toEqual(whole)
  a.set(a.map(x => -x))
  expect(compute(2)).toEqual(whole.map(x => -x))
})
