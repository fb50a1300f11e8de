import { expect, test } from 'vitest'
import type { DType } from '../../src/tensor/dtype.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { packMatrix, panelsJob } from '../../src/wasm/pack.ts'
import { bits } from './compare.ts'
import { packedBytes } from './packed.ts'

// Panels have eight columns; rows are packed in blocks of 16, 32 and 64, and 16 rows of a transposed matrix at a time.
const SIZES = [
  [1, 1],
  [15, 8],
  [16, 24],
  [33, 45],
  [70, 17],
  [131, 40]
] as const
const ORDERS = ['rows', 'columns'] as const
const CASES = SIZES.flatMap(([k, n]) => ORDERS.map(order => [k, n, order] as const))

/** Bytes of a matrix that lies by rows or by columns, and where an element's bytes lie. */
function matrixOf(k: number, n: number, order: 'rows' | 'columns', width: number) {
  const bytes = bits('uint8', [k * n * width]).data as Uint8Array
  const [rowStep, columnStep] = order === 'rows' ? [n * width, width] : [width, k * width]
  const at = (row: number, column: number) => row * rowStep + column * columnStep
  return { bytes, k, n, rowStep, columnStep, at }
}

test.each(CASES)('a matrix of %d x %d by %s is put into panels, a part of them at a time', (k, n, order) => {
  const { bytes, at, ...layout } = matrixOf(k, n, order, 4)
  const panels = Math.ceil(n / 8)
  const packed = packedBytes(panelsJob(layout), [bytes], panels * k * 32, Math.ceil(panels / 2))
  const expected = new Uint8Array(packed.length)
  for (let column = 0; column < n; column++)
    for (let row = 0; row < k; row++)
      expected.set(
        bytes.subarray(at(row, column), at(row, column) + 4),
        ((column >> 3) * k + row) * 32 + (column & 7) * 4
      )
  expect(packed).toEqual(expected)
})

/** A matrix of bytes in panels of eight columns, as groups of rows; what there is not is 0. */
function bytePanels(k: number, n: number, group: number, code: (row: number, column: number) => number): number[][] {
  return Array.from({ length: Math.ceil(n / 8) }, (_, panel) =>
    Array.from({ length: Math.ceil(k / group) * 8 * group }, (_, i) => {
      const row = Math.floor(i / (8 * group)) * group + (i % group)
      const column = panel * 8 + (Math.floor(i / group) % 8)
      return row < k && column < n ? code(row, column) : 0
    })
  )
}

test.each(CASES)('a matrix of %d x %d bytes by %s is put into panels of pairs of rows', (k, n, order) => {
  const { bytes, at, ...layout } = matrixOf(k, n, order, 1)
  const panels = Math.ceil(n / 8)
  for (const flip of [0, 128]) {
    const job = panelsJob(layout, 'packBytePanels', [flip, 0])
    const packed = packedBytes(job, [bytes], panels * Math.ceil(k / 2) * 16, Math.ceil(panels / 2))
    expect([...packed]).toEqual(bytePanels(k, n, 2, (row, column) => bytes[at(row, column)] ^ flip).flat())
  }
})

test.each(CASES)('a matrix of %d x %d bytes by %s is put into panels of fours, their sums behind', (k, n, order) => {
  const { bytes, at, ...layout } = matrixOf(k, n, order, 1)
  const panels = Math.ceil(n / 8)
  for (const flip of [0, 128]) {
    const job = panelsJob(layout, 'packBytePanels', [flip, 1])
    const packed = packedBytes(job, [bytes], panels * (Math.ceil(k / 4) * 32 + 32), Math.ceil(panels / 2))
    const expected = bytePanels(k, n, 4, (row, column) => bytes[at(row, column)] ^ flip).flatMap(panel => {
      const codes = Int8Array.from(panel)
      const sums = new Int32Array(8)
      codes.forEach((code, i) => (sums[Math.floor(i / 4) % 8] += code))
      return [...panel, ...new Uint8Array(sums.buffer)]
    })
    expect([...packed]).toEqual(expected)
  }
})

test.each([1, 2, 5])('rows of several groups are put into strips of four, %d at a time', tile => {
  const [groups, rows, k, strips] = [3, 6, 5, 2]
  const given = Float32Array.from({ length: groups * rows * k }, (_, i) => i + 1)
  for (const [rowStep, kStep] of [
    [k, 1],
    [1, rows]
  ]) {
    const job = { kernel: 'packStrips', blocks: groups * strips, args: [4 * rowStep, 4 * kStep, rows, k] } as const
    const packed = packedBytes(job, [given], groups * strips * k * 16, tile)
    const expected = Array.from({ length: groups * strips * k * 4 }, (_, at) => {
      const [group, element] = [Math.floor(at / (strips * k * 4)), Math.floor(at / 4) % k]
      const row = 4 * (Math.floor(at / (4 * k)) % strips) + (at % 4)
      return row < rows ? given[group * rows * k + row * rowStep + element * kStep] : 0
    })
    expect([...new Float32Array(packed.buffer)]).toEqual(expected)
  }
})

test.each([1, 2, 5])('weights of bytes of several groups are put into strips of four and six, %d at a time', tile => {
  const [groups, m, k] = [3, 8, 5]
  const given = bits('uint8', [groups * m * k]).data as Uint8Array
  const zeros = Int32Array.from({ length: groups * m }, (_, i) => i * 10)
  const code = (group: number, row: number, at: number) => (row < m && at < k ? given[(group * m + row) * k + at] : 0)
  const inFours = packedBytes(
    { kernel: 'packByteStrips', blocks: groups * 2, args: [m, k, 0] },
    [given, zeros],
    groups * 2 * 3 * 4 * 4,
    tile
  )
  expect([...new Int16Array(inFours.buffer)]).toEqual(
    Array.from({ length: groups * 2 * 3 * 4 * 2 }, (_, at) => {
      const group = Math.floor(at / 48)
      const row = 4 * (Math.floor(at / 24) % 2) + (Math.floor(at / 2) % 4)
      const element = 2 * (Math.floor(at / 8) % 3) + (at % 2)
      return element < k ? code(group, row, element) - zeros[group * m + row] : 0
    })
  )
  const inSixes = packedBytes(
    { kernel: 'packDotStrips', blocks: groups * 2, args: [m, k, 1] },
    [given, zeros],
    groups * 2 * (2 * 6 * 4 + 6 * 4),
    tile
  )
  for (let strip = 0; strip < groups * 2; strip++) {
    const [group, first] = [Math.floor(strip / 2), 6 * (strip % 2)]
    const signed = (row: number, at: number) => (code(group, first + row, at) << 24) >> 24
    const codes = Array.from({ length: 48 }, (_, at) =>
      signed(Math.floor(at / 4) % 6, 4 * Math.floor(at / 24) + (at % 4))
    )
    const sums = Array.from({ length: 6 }, (_, row) => [0, 1, 2, 3, 4].reduce((sum, at) => sum + signed(row, at), 0))
    expect([...new Int8Array(inSixes.buffer, strip * 72, 48)]).toEqual(codes)
    expect([...new Int32Array(inSixes.buffer, strip * 72 + 48, 6)]).toEqual(sums)
  }
})

test('a matrix without rows is packed at once', () => {
  const empty = new Tensor('float32', new Float32Array(0), [0, 9])
  const allocate = (type: DType, dims: readonly number[]) => new Tensor(type, new Float32Array(0), dims)
  const packing = packMatrix(empty, { k: 0, n: 9, rowStep: 36, columnStep: 4 }, { allocate, threads: 2 })
  expect(packing.next()).toMatchObject({ done: true, value: { dims: [2, 0, 8] } })
})
