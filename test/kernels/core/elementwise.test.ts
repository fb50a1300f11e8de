import { describe, expect, test } from 'vitest'
import { binary, loopsOf, mergedLoops } from '../../../src/kernels/core/elementwise.ts'
import { chunkSize, COST } from '../../../src/kernels/core/pace.ts'
import { ADD, SUBTRACT } from '../../../src/kernels/elementwise/binary.ts'
import { allocate, elementCount, Tensor } from '../../../src/tensor/tensor.ts'
import { iota } from '../../ops/values.ts'

const finish = (steps: Generator<void>): number => {
  let yields = 0
  while (!steps.next().done) yields++
  return yields
}

describe('loops of a broadcast', () => {
  test('equal shapes are one loop', () => {
    expect(
      loopsOf(
        [2, 3, 4],
        [
          [2, 3, 4],
          [2, 3, 4]
        ]
      )
    ).toEqual({ sizes: [24], strides: [[1], [1], [1]] })
  })

  test('an operand that is broadcast has stride 0, dims of 1 have no loop', () => {
    expect(loopsOf([2, 1, 40], [[2, 1, 40], [40]])).toEqual({
      sizes: [2, 40],
      strides: [
        [40, 1],
        [0, 1],
        [40, 1]
      ]
    })
    expect(loopsOf([], [[], []]).sizes).toEqual([])
  })

  test('a short innermost loop gives its place to the longest', () => {
    expect(loopsOf([1000, 3], [[1000, 3], [3]])).toEqual({
      sizes: [3, 1000],
      strides: [
        [1, 3],
        [1, 0],
        [1, 3]
      ]
    })
  })

  test('neighbours are joined only where every operand allows it', () => {
    expect(
      mergedLoops(
        [4, 5, 6],
        [
          [30, 6, 1],
          [5, 1, 0]
        ]
      ).sizes
    ).toEqual([6, 20])
  })
})

describe('binary', () => {
  test('equals the naive loop for every pair of shapes that broadcast', () => {
    const dims = [[], [1], [4], [3, 1], [3, 4], [2, 1, 1], [2, 3, 4], [5, 1, 3, 1], [0, 1, 1, 4]]
    const at = (index: number[], own: number[]): number =>
      own.reduce((offset, dim, i) => offset * dim + (dim === 1 ? 0 : index[index.length - own.length + i]), 0)
    for (const a of dims) {
      for (const b of dims) {
        const rank = Math.max(a.length, b.length)
        const pad = (own: number[]): number[] => [...new Array<number>(rank - own.length).fill(1), ...own]
        if (pad(a).some((dim, i) => dim !== pad(b)[i] && dim !== 1 && pad(b)[i] !== 1)) continue
        const out = allocate(
          'float32',
          pad(a).map((dim, i) => (dim === 1 ? pad(b)[i] : dim))
        )
        const [x, y] = [iota(a), iota(b)]
        finish(binary(SUBTRACT, x, y, out))
        for (let i = 0; i < elementCount(out.dims); i++) {
          let rest = i
          const index = [...out.dims]
            .reverse()
            .map(dim => {
              const own = rest % dim
              rest = Math.floor(rest / dim)
              return own
            })
            .reverse()
          expect(out.data[i], `${a} - ${b} at ${index}`).toBe(
            Number(x.data[at(index, a)]) - Number(y.data[at(index, b)])
          )
        }
      }
    }
  })

  test('yields once for each chunk of work, in one long inner loop too', () => {
    const chunk = chunkSize(COST.element)
    const x = allocate('int8', [3 * chunk])
    expect(finish(binary(ADD, x, x, allocate('int8', x.dims)))).toBe(3)
    const rows = allocate('int8', [chunk / 16, 64])
    expect(finish(binary(ADD, rows, allocate('int8', [64]), allocate('int8', rows.dims)))).toBe(4)
  })

  test('few elements are computed at once, those of 16-bit floats when asked for', () => {
    const [x, half] = [iota([2, 3]), allocate('float16', [2, 3])]
    for (const [a, b, isAtOnce] of [
      [x, x, true],
      [x, iota([1, 1]), true],
      [iota([1, 1]), x, true],
      [x, iota([3]), true],
      [iota([2, 1]), iota([3]), true],
      [x, half, false]
    ] as const) {
      const out = allocate('float32', [2, 3])
      const work = binary(ADD, a, b, out)
      expect(out.data.some(element => element !== 0)).toBe(isAtOnce)
      finish(work)
      expect(out.data[5]).toBe(Number(a.data.at(-1)) + Number(b.data.at(-1)))
    }
  })

  test('loops are worked out anew where operands of other dims meet in a result of the same frozen dims', () => {
    const dims = Object.freeze([2, 3])
    const sums = (a: Tensor, b: Tensor): number[] => {
      const out = new Tensor('float32', new Float32Array(6), dims)
      finish(binary(ADD, a, b, out))
      return [...out.data]
    }
    const [x, row, column] = [iota([2, 3]), iota([3]), iota([2, 1])]
    for (let i = 0; i < 2; i++) {
      expect(sums(x, row)).toEqual([...x.data].map((value, at) => Number(value) + Number(row.data[at % 3])))
      expect(sums(x, column)).toEqual(
        [...x.data].map((value, at) => Number(value) + Number(column.data[Math.floor(at / 3)]))
      )
    }
  })

  test('floats of 16 bits may be added to others', () => {
    const half = new Tensor('float16', new Uint16Array([0x3800]))
    const out = allocate('float32', [1])
    for (const [a, b] of [
      [iota([1]), half],
      [half, iota([1])]
    ]) {
      finish(binary(ADD, a, b, out))
      expect(out.data[0]).toBe(Number(iota([1]).data[0]) + 0.5)
    }
  })

  test('16-bit floats are rounded once', () => {
    const out = allocate('float16', [1])
    // 1 + 2^-11 lies between two float16 numbers; ties go to even.
    finish(
      binary(
        ADD,
        new Tensor('float16', new Uint16Array([0x3c00])),
        new Tensor('float16', new Uint16Array([0x1000])),
        out
      )
    )
    expect(out.data[0]).toBe(0x3c00)
  })
})
