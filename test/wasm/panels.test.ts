import { expect, test } from 'vitest'
import { panelsJob } from '../../src/wasm/pack.ts'
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
