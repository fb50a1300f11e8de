import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ByteSource, bytesSource, fileSource } from '../../src/files/byte-source.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { node } from '../fixtures/onnx.ts'
import fc from '../fixtures/random-cases.ts'
import { counting, external, gathered, ids, ir, onnx, outcome, rowsOfTable, tableBytes } from './table-models.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a file beyond 4 GiB', () => {
  const path = join(folder, 'huge.bin')
  const rows = 5 * 2 ** 20
  const row = (i: number): Float32Array => Float32Array.from({ length: 256 }, (_, j) => i + j)
  const descriptor = openSync(path, 'w')
  // Only what is written takes room on the disk.
  ftruncateSync(descriptor, rows * 1024 + 8)
  for (const i of [0, 3 * 2 ** 20, rows - 1]) writeSync(descriptor, row(i), 0, 1024, i * 1024)
  closeSync(descriptor)

  test.each(['external data', 'a .bin'])('is read by the row as %s', async kind => {
    const weights = counting(fileSource(path, 'w.bin'))
    const model =
      kind === 'a .bin'
        ? ir([rows, 256], weights, 'Gather')
        : onnx(gathered({ initializers: [external([rows, 256])] }), weights)
    const result = (await new InferenceSession(model).run({ ids: ids([rows - 1, 0, -1, 3 * 2 ** 20, 1]) })).rows
    expect(result.data).toEqual(
      Float32Array.from(
        [row(rows - 1), row(0), row(rows - 1), row(3 * 2 ** 20), new Float32Array(256)].flatMap(part => [...part])
      )
    )
    expect(weights.bytes).toBeLessThan(10_000)
  })

  test('holds a tensor that begins beyond 4 GiB', async () => {
    const weights = counting(fileSource(path, 'w.bin'))
    const model = onnx(gathered({ initializers: [external([2048, 256], (rows - 2048) * 1024)] }), weights)
    expect((await new InferenceSession(model).run({ ids: ids([2047]) })).rows).toMatchObject({ data: row(rows - 1) })
  })
})

describe('rows that are read alone', () => {
  const bytes = new Uint8Array(65536 + 8)
  const table = tableBytes(16384)
  bytes.set(table)
  const inPlace = bytesSource('w.bin', bytes)
  /** More than any run needs here, and less than the table takes. */
  const small = { maxMemory: 60000 }
  const widths = fc.constantFrom(1, 3, 64, 256)
  /** Mostly in range. */
  const indices = (rows: number) =>
    fc.array(
      fc.oneof(
        { weight: 30, arbitrary: fc.integer({ min: 0, max: rows - 1 }) },
        fc.integer({ min: -rows - 1, max: rows })
      ),
      { maxLength: 6 }
    )
  const lookups = widths.chain(width => {
    const rows = Math.floor(16384 / width)
    return fc.record({ width: fc.constant(width), rows: fc.constant(rows), list: indices(rows) })
  })
  const same = async (of: (weights: ByteSource) => Model, feeds: Record<string, Tensor>): Promise<void> => {
    expect(await outcome(of(counting(inPlace)), feeds, small)).toEqual(await outcome(of(inPlace), feeds))
  }

  test('are those of the whole table, and indices fail alike: ONNX Gather', () =>
    fc.assert(
      fc.asyncProperty(lookups, fc.constantFrom(0, 1, -2), async ({ width, rows, list }, axis) => {
        const dims = axis === 1 ? [1, rows, width] : [rows, width]
        await same(weights => onnx(gathered({ initializers: [external(dims)] }, axis), weights), {
          ids: ids(list, [1, list.length])
        })
      })
    ))

  test('are those of the whole table, and zeros out of range: OpenVINO Gather', () =>
    fc.assert(
      fc.asyncProperty(lookups, async ({ width, rows, list }) => {
        await same(weights => ir([rows, width], weights, 'Gather'), { ids: ids(list) })
      })
    ))

  test.each(['f32', 'i64'] as const)(
    'are those of the whole table, default rows too: OpenVINO EmbeddingBagOffsetsSum of %s',
    type =>
      fc.assert(
        fc.asyncProperty(
          lookups,
          fc.array(fc.nat(7)),
          fc.integer({ min: -2, max: 300 }),
          async ({ width, rows, list }, offsets, fallback) => {
            const dims = [type === 'i64' ? rows >> 1 : rows, width]
            // The default index lies behind the table.
            new DataView(bytes.buffer).setBigInt64(dims[0] * width * (type === 'i64' ? 8 : 4), BigInt(fallback), true)
            await same(weights => ir(dims, weights, 'EmbeddingBagOffsetsSum', type), {
              ids: ids(list),
              offsets: ids([...offsets].sort())
            })
            bytes.set(table)
          }
        )
      )
  )

  test('need not lie at a multiple of their size', async () => {
    const model = onnx(gathered({ initializers: [external([100, 4], 3)] }), counting(inPlace))
    const whole = new Float32Array(bytes.slice(3, 3 + 1600).buffer)
    expect(await outcome(model, { ids: ids([7, 2]) }, { maxMemory: 1000 })).toMatchObject({
      data: Float32Array.of(...whole.subarray(28, 32), ...whole.subarray(8, 12))
    })
  })

  test('are not of an axis along which they lie in pieces: then the table has to fit', async () => {
    const model = onnx(gathered({ initializers: [external([128, 128])] }, 1), counting(inPlace))
    expect(await outcome(model, { ids: ids([7]) }, small)).toMatchObject({ code: 'limit-exceeded' })
    expect(await outcome(model, { ids: ids([7]) })).toMatchObject({ dims: [128, 1] })
  })

  test('a table of bytes that the caller gave is used where it lies', async () => {
    const model = onnx(gathered({ initializers: [external([64, 256])] }), inPlace)
    expect(await outcome(model, { ids: ids([7]) }, { maxMemory: 2000 })).toMatchObject({ data: rowsOfTable([7], 256) })
    const misplaced = onnx(
      gathered({ nodes: [node('Neg', ['table'], ['rows'])], inputs: [], initializers: [external([64, 240], 1)] }),
      inPlace
    )
    expect(await outcome(misplaced, {}, { maxMemory: 64 * 240 * 4 })).toMatchObject({
      code: 'limit-exceeded',
      reason: expect.stringContaining('a constant of type float32 and dims [64, 240] takes 61440 bytes; 61440')
    })
  })

  test('of a file that has become too short fail as the whole table does', async () => {
    const parts = gathered({ initializers: [external([64, 256], 4096)] })
    const reason = 'tensor "table": w.bin has 65544 bytes; 65536 bytes at 4096 are not inside it'
    for (const options of [small, {}])
      expect(await outcome(onnx(parts, counting(inPlace)), { ids: ids([7]) }, options)).toMatchObject({
        code: 'invalid-file',
        reason: expect.stringContaining(reason.slice(0, 30))
      })
  })
})
