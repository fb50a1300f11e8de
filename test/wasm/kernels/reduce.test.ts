import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Shares of the largest magnitude that sums in float32 may be off by; the highest and lowest are exact. */
const reductions = [
  ['ReduceSum', 4e-7],
  ['ReduceMean', 4e-7],
  ['ReduceMax', 0],
  ['ReduceMin', 0],
  ['ReduceL1', 4e-7],
  ['ReduceL2', 4e-7],
  ['ReduceSumSquare', 4e-7]
] as const

const list = (axes: readonly number[]): Tensor => new Tensor('int64', axes.map(BigInt), [axes.length])

describe.each(['heap', 'array'] as const)('reductions of float32 in WebAssembly, operands in an %s', region => {
  test.each(reductions)('%s over axes that lie side by side', (type, tolerance) => {
    for (const [dims, axes] of [
      [[40, 131], [1]],
      [[131, 40], [0]],
      [[3, 40, 131], [1]],
      [
        [3, 5, 17, 23],
        [2, 3]
      ],
      [
        [3, 5, 17, 23],
        [1, -2]
      ],
      [
        [5, 1, 3, 301],
        [0, 2]
      ],
      [[2100, 3], [1]],
      [[701, 11], [1]],
      [[402, 2], [1]],
      [[3, 2100], [0]],
      [[3, 700, 2], [1]],
      [[2, 2, 1100, 1], [2]],
      [[5001], []],
      [[70, 71], []]
    ] as const) {
      const inputs = [noise(dims, 1), ...(axes.length > 0 ? [list(axes)] : [])]
      expectEqual(['onnx', type, 18], inputs, { region }, tolerance)
    }
  })

  test.each([...reductions.map(([type]) => type), 'ReduceProd'])('%s of groups of one element', type => {
    const x = noise([3, 70, 1], 1)
    x.data.set([NaN, -0, Infinity])
    const wide = new Tensor('float64', Float64Array.from(x.data), x.dims)
    const whole = new Tensor(
      'int32',
      Int32Array.from(x.data, element => 1e6 * element),
      x.dims
    )
    const isMeasure = ['ReduceL1', 'ReduceL2', 'ReduceSumSquare'].includes(type)
    for (const given of isMeasure ? [x] : [x, wide, whole])
      expectEqual(['onnx', type, 18], [given, list([2])], { region })
    expectEqual(['onnx', type, 18], [new Tensor('float32', x.data, [1, 210]), list([0])], { region })
  })

  test.each(reductions)('%s over rows of few columns', (type, tolerance) => {
    for (const inner of [2, 3, 5, 6, 7, 17, 19])
      for (const n of [2, 3, 4, 5, 9, 70]) {
        const x = noise([5, n, inner], n)
        for (const given of [x, new Tensor('float64', Float64Array.from(x.data), x.dims)])
          expectEqual(['onnx', type, 18], [given, list([1])], { region }, given === x ? tolerance : 1e-14)
        const spoiled = Float32Array.from(x.data)
        spoiled[n * inner - 1] = NaN
        spoiled[n * inner] = -0
        expectEqual(['onnx', type, 18], [new Tensor('float32', spoiled, x.dims), list([1])], { region }, tolerance)
      }
  })

  test('ReduceLogSum over axes side by side and apart', () => {
    for (const [dims, axes] of [
      [[40, 131], [1]],
      [[131, 40], [0]],
      [[3, 40, 31], [1]],
      [
        [20, 30, 10],
        [0, 2]
      ]
    ]) {
      const x = new Tensor('float32', noise(dims, 1).data.map(Math.abs), dims)
      expectEqual(['onnx', 'ReduceLogSum', 18], [x, list(axes)], { region })
    }
  })

  test('attributes as axes, dims left out, and OpenVINO', () => {
    const x = noise([7, 31, 29], 1)
    expectEqual(['onnx', 'ReduceMean', 11], [x], { region, attributes: { axes: [1, 2], keepdims: 0 } }, 4e-7)
    expectEqual(['openvino', 'ReduceMean', 1], [x, list([-1])], { region, attributes: { keep_dims: 'true' } }, 4e-7)
    expectEqual(['openvino', 'ReduceL2', 4], [x, list([0, 1])], { region, attributes: { keep_dims: 'false' } }, 4e-7)
  })

  test('GlobalAveragePool, GlobalMaxPool and GlobalLpPool', () => {
    for (const dims of [
      [2, 40, 9, 9],
      [3, 50, 61],
      [1, 30, 3, 7, 9]
    ]) {
      expectEqual(['onnx', 'GlobalAveragePool', 1], [noise(dims, 1)], { region }, 4e-7)
      expectEqual(['onnx', 'GlobalMaxPool', 1], [noise(dims, 1)], { region }, 0)
      for (const p of [1, 2])
        expectEqual(['onnx', 'GlobalLpPool', 2], [noise(dims, 1)], { region, attributes: { p } }, 4e-7)
    }
  })

  test.each(reductions)('%s with NaN and infinities', (type, tolerance) => {
    for (const [dims, axis] of [
      [[60, 101], 1],
      [[101, 60], 0],
      [[303, 19], 0],
      [[1001, 6], 1]
    ] as const) {
      const data = Float32Array.from(noise(dims, 3).data)
      const put = (line: number, at: number, value: number): void => {
        data[axis === 1 ? line * 101 + at : at * dims[1] + line] = value
      }
      put(0, 4, NaN)
      put(1, 100, NaN)
      put(2, 4, Infinity)
      put(3, 4, -Infinity)
      put(4, 4, -Infinity)
      put(4, 99, Infinity)
      put(18, 100, NaN)
      expectEqual(['onnx', type, 18], [new Tensor('float32', data, dims), list([axis])], { region }, tolerance)
    }
  })

  test.each([
    ['ReduceMax', 133],
    ['ReduceMin', 133],
    ['ReduceMax', 21],
    ['ReduceMin', 32]
  ])('%s finds NaN anywhere in lines of %i, and tells the signs of zeros', (type, count) => {
    const kind = ['onnx', type, 18] as const
    const nan = noise([count, count], 3)
    const zeros = new Float32Array(2 * count * count).fill(-0, count * count)
    for (let i = 0; i < count; i++) {
      nan.data[i * count + i] = NaN
      // One zero of each line has another sign than all others.
      zeros[i * count + i] = -0
      zeros[(i + count) * count + i] = 0
    }
    const found = [nan, new Tensor('float32', zeros, [2 * count, count])].map(x => {
      const [given, wanted] = [runAccelerated(kind, [x, list([1])], { region }), runOp(kind, [x, list([1])])]
      expect(given[0]).toEqual(wanted[0])
      return Array.from((given[0] as Tensor).data as Float32Array)
    })
    expect(found[0]).toEqual(new Array<number>(count).fill(NaN))
    expect(found[1]).toEqual(new Array<number>(2 * count).fill(type === 'ReduceMax' ? 0 : -0))
  })

  test.each(reductions)('%s over axes that lie apart', (type, tolerance) => {
    for (const [dims, axes] of [
      [
        [20, 30, 40],
        [0, 2]
      ],
      [
        [3, 4, 5, 6, 7],
        [-1, 0, 2]
      ],
      [
        [2, 1, 90, 3, 5],
        [0, 1, 3]
      ]
    ] as const)
      for (const keepdims of [0, 1])
        expectEqual(['onnx', type, 18], [noise(dims, 1), list(axes)], { region, attributes: { keepdims } }, tolerance)
  })

  test('ReduceLogSumExp, of large and of infinite elements, too', () => {
    for (const [dims, axes] of [
      [[60, 101], [1]],
      [[101, 60], [0]],
      [
        [3, 5, 17, 23],
        [1, 2]
      ],
      [
        [30, 7, 40],
        [0, 2]
      ],
      [
        [4, 5, 6, 7, 8],
        [0, 2, -1]
      ],
      [[2000, 3], [1]],
      [[5001], []]
    ] as const)
      for (const scale of [1, 1000]) {
        const inputs = [noise(dims, 1, scale), ...(axes.length > 0 ? [list(axes)] : [])]
        expectEqual(['onnx', 'ReduceLogSumExp', 18], inputs, { region }, 4e-7)
      }
    for (const value of [Infinity, -Infinity, NaN]) {
      const data = Float32Array.from(noise([60, 101], 3).data).fill(value, 0, value === Infinity ? 1 : 101)
      const inputs = [new Tensor('float32', data, [60, 101]), list([1])]
      expectEqual(['onnx', 'ReduceLogSumExp', 18], inputs, { region }, 4e-7)
    }
  })

  test('LpNormalization and NormalizeL2, of zeros and of extremes, too', () => {
    const spoiled = Float32Array.from(noise([9, 31, 17], 2).data)
    spoiled.fill(0, 0, 31 * 17)
    const x = [noise([9, 31, 17], 1), noise([9, 31, 17], 1, 1e-24), noise([9, 31, 17], 1, 1e25)]
    for (const given of [...x, new Tensor('float32', spoiled, [9, 31, 17])]) {
      for (const p of [1, 2])
        for (const axis of [0, 1, -1])
          expectEqual(['onnx', 'LpNormalization', 22], [given], { region, attributes: { axis, p } }, 4e-7)
      for (const axes of [[1], [1, 2], [0]])
        for (const eps_mode of ['add', 'max'])
          for (const eps of ['1e-8', '0.5']) {
            const options = { region, attributes: { eps, eps_mode } }
            expectEqual(['openvino', 'NormalizeL2', 1], [given, list(axes)], options, 4e-7)
          }
    }
    for (const [dims, axis] of [
      [[700, 3], 1],
      [[1100, 2], 1],
      [[5, 3, 200], 1]
    ] as const)
      for (const p of [1, 2])
        expectEqual(['onnx', 'LpNormalization', 22], [noise(dims, 1)], { region, attributes: { axis, p } }, 4e-7)
  })

  test('shared by two threads', () => {
    const x = noise([64, 90, 90], 1)
    expectEqual(['onnx', 'ReduceSum', 13], [x, list([1, 2])], { region, threads: 2 }, 4e-7)
    expectEqual(['onnx', 'ReduceMax', 18], [x, list([0])], { region, threads: 2 }, 0)
  })
})

test('long sums of numbers of one sign are off by few roundings', () => {
  const positive = noise([300_000], 1).data.map(value => Math.abs(value))
  expectEqual(['onnx', 'ReduceSum', 13], [new Tensor('float32', positive, [300_000])], {}, 2e-7)
  expectEqual(['onnx', 'ReduceMean', 18], [new Tensor('float32', positive, [50_000, 6]), list([0])], {}, 2e-5)
  expectEqual(['onnx', 'ReduceMean', 18], [new Tensor('float32', positive, [3000, 100]), list([0])], {}, 2e-6)
})

describe.each(['heap', 'array'] as const)('extremes of integers in WebAssembly, operands in an %s', region => {
  test.each(['uint8', 'int8', 'int32', 'uint32', 'int64', 'uint64'] as const)('of %s', type => {
    for (const [dims, axes] of [
      [[40, 131], [1]],
      [[131, 40], [0]],
      [[3, 40, 131], [1]],
      [[2100, 3], [1]],
      [[3, 700, 2], [1]],
      ...[2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 48, 65].map(size => [[67, size], [1]] as const),
      [
        [5, 7, 9, 11],
        [1, 3]
      ],
      [[70, 71], []]
    ] as const)
      for (const operator of ['ReduceMax', 'ReduceMin']) {
        const inputs = [bits(type, dims), ...(axes.length > 0 ? [list(axes)] : [])]
        expectEqual(['onnx', operator, 18], inputs, { region }, 0)
      }
  })

  test('of bool and of the shorter integers of OpenVINO', () => {
    const data = (bits('uint8', [40, 131]).data as Uint8Array).map(code => Number(code > 250))
    const bool = new Tensor('bool', data, [40, 131])
    for (const operator of ['ReduceMax', 'ReduceMin'])
      expectEqual(['onnx', operator, 20], [bool, list([1])], { region }, 0)
    for (const type of ['int16', 'uint16'] as const)
      for (const dims of [[40, 131], ...[2, 3, 5, 7, 8, 9].map(size => [67, size])])
        for (const axis of [0, 1])
          expectEqual(['openvino', 'ReduceMin', 1], [bits(type, dims), list([axis])], { region }, 0)
  })
})

test('few elements, none, and other types are left to the reference', () => {
  const refused = (x: Tensor, axes: number[]): void =>
    expect(() => runAccelerated(['onnx', 'ReduceSum', 13], [x, list(axes)])).toThrow('no accelerated kernel')
  refused(noise([3, 5], 1), [1])
  refused(noise([0, 5000], 1), [0])
  refused(noise([5000, 0], 1), [0])
})

describe.each(['heap', 'array'] as const)(
  'sums and products in WebAssembly of wide numbers, operands in an %s',
  region => {
    const layouts: [number[], number[]][] = [
      [[40, 131], [1]],
      [[131, 40], [0]],
      [[3, 40, 31], [1]],
      [
        [3, 5, 17, 23],
        [1, 3]
      ],
      [[5001], []],
      [[3, 700, 2], [1]],
      [[90, 2], [1]],
      [[40, 7], [1]]
    ]

    const apart: [number[], number[]][] = [
      [
        [20, 3, 40],
        [0, 2]
      ],
      [
        [3, 4, 5, 6, 7],
        [-1, 0, 2]
      ]
    ]

    test('products of float32 along axes that lie apart are no float32 in between', () => {
      const dims = [2, 30, 2]
      // 1e40 or 1e-40 along either axis, 1 along both.
      const data = Float32Array.from({ length: 120 }, (_, i) => (i % 2 === Math.floor(i / 60) ? 1e20 : 1e-20))
      expectEqual(['onnx', 'ReduceProd', 18], [new Tensor('float32', data, dims), list([0, 2])], { region }, 1e-7)
      const equal = Float32Array.from({ length: 120 }, (_, i) => (i < 60 ? 1e20 : 1e-20))
      expectEqual(['onnx', 'ReduceProd', 18], [new Tensor('float32', equal, dims), list([0, 2])], { region }, 1e-7)
    })

    test('means of int32 are those of the exact sums, rounded towards zero', () => {
      for (const [dims, axes] of [...layouts, ...apart]) {
        const given = bits('int32', dims)
        const high = new Tensor('int32', new Int32Array(given.data.length).fill(2 ** 31 - 1), dims)
        for (const x of [given, high])
          expectEqual(['onnx', 'ReduceMean', 18], [x, ...(axes.length > 0 ? [list(axes)] : [])], { region }, 0)
      }
    })

    test.each(['int32', 'uint32', 'int64', 'uint64'] as const)('%s wraps', type => {
      for (const [dims, axes] of layouts) {
        const inputs = [bits(type, dims), ...(axes.length > 0 ? [list(axes)] : [])]
        for (const name of ['ReduceSum', 'ReduceProd']) expectEqual(['onnx', name, 18], inputs, { region }, 0)
      }
    })

    test.each(['int32', 'int64', 'float64'] as const)(
      'roots of sums of squares, and logarithms of sums, of %s',
      type => {
        for (const [dims, axes] of [
          [[60, 101], [1]],
          [[101, 60], [0]],
          [[30, 40, 7], [1]],
          [
            [30, 7, 40],
            [0, 2]
          ]
        ]) {
          // Sums of some are below 0, and none of them overflows a double's whole numbers.
          const numbers = Array.from(noise(dims, 4).data, value => Math.round(value * 1000))
          const data = type === 'int64' ? numbers.map(BigInt) : numbers
          const x = new Tensor(type, data, dims)
          for (const name of ['ReduceL2', 'ReduceLogSum'])
            expectEqual(['onnx', name, 18], [x, list(axes)], { region }, type === 'float64' ? 1e-14 : 0)
        }
      }
    )

    test.each(['int32', 'int64'] as const)('magnitudes and squares of %s wrap', type => {
      for (const [dims, axes] of layouts) {
        const inputs = [bits(type, dims), ...(axes.length > 0 ? [list(axes)] : [])]
        for (const name of ['ReduceL1', 'ReduceSumSquare']) expectEqual(['onnx', name, 18], inputs, { region }, 0)
        if (type === 'int64') expectEqual(['onnx', 'ReduceMean', 18], inputs, { region }, 0)
      }
    })

    test.each([
      'ReduceSum',
      'ReduceMean',
      'ReduceProd',
      'ReduceMax',
      'ReduceMin',
      'ReduceL1',
      'ReduceL2',
      'ReduceSumSquare'
    ])('%s of float64', name => {
      for (const [dims, axes] of layouts) {
        const data = Float64Array.from(noise(dims, 2).data, value => 1 + value / 8)
        const inputs = [new Tensor('float64', data, dims), ...(axes.length > 0 ? [list(axes)] : [])]
        const isExact = name === 'ReduceMax' || name === 'ReduceMin'
        expectEqual(['onnx', name, 20], inputs, { region }, isExact ? 0 : 1e-12)
        data[7] = NaN
        expectEqual(['onnx', name, 20], inputs, { region }, isExact ? 0 : 1e-12)
      }
    })

    test('ReduceProd of float32 rounds once', () => {
      for (const [dims, axes] of [...layouts, ...apart]) {
        const x = new Tensor(
          'float32',
          noise(dims, 2).data.map(value => 1 + value / 8),
          dims
        )
        expectEqual(['onnx', 'ReduceProd', 18], [x, ...(axes.length > 0 ? [list(axes)] : [])], { region }, 1e-7)
      }
    })
  }
)
