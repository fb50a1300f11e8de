import { describe, expect, test } from 'vitest'
import { type ByteSource, bytesSource } from '../../src/files/byte-source.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import { loadOnnx } from '../../src/onnx/load.ts'
import { type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import fc from '../fixtures/random-cases.ts'
import { firstOf } from './table-models.ts'

/** A source of a file that counts what is read of it. */
const counting = (bytes: Uint8Array): ByteSource & { bytes: number } => ({
  name: 'w.bin',
  size: bytes.length,
  bytes: 0,
  read(offset, length) {
    this.bytes += length
    return bytes.slice(offset, offset + length)
  }
})

interface Table {
  readonly name: string
  readonly type: DType
  readonly dims: readonly number[]
}

const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1)
const bytesOf = ({ type, dims }: Table): number => Math.ceil((count(dims) * DTYPES[type].bits) / 8)

const scales = firstOf(length => {
  const numbers = new Float32Array(length)
  for (let i = 0; i < length; i++) numbers[i] = ((i % 251) + 1) / 64
  return numbers
})
const codes = firstOf(length => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = (i * 7 + (i >> 9)) % 113
  return bytes
})

/** A file with the tables one after the other: codes are any bytes, scales are small numbers. */
function fileOf(tables: readonly Table[]): { readonly bytes: Uint8Array; readonly initializers: object[] } {
  const bytes = new Uint8Array(tables.reduce((sum, table) => sum + bytesOf(table), 0))
  let offset = 0
  const initializers = tables.map(table => {
    const length = bytesOf(table)
    const part = bytes.subarray(offset, offset + length)
    if (table.type === 'float32') part.set(new Uint8Array(scales(count(table.dims)).slice().buffer))
    else part.set(codes(length))
    const initializer = {
      name: table.name,
      dims: table.dims,
      dataType: DTYPES[table.type].onnx,
      dataLocation: 1,
      externalData: [
        { key: 'location', value: 'w.bin' },
        { key: 'offset', value: `${offset}` },
        { key: 'length', value: `${length}` }
      ]
    }
    offset += length
    return initializer
  })
  return { bytes, initializers }
}

/** A GatherBlockQuantized whose inputs are tables of a file, or by name inputs of the model. */
function modelOf(
  tables: readonly Table[],
  attributes: Readonly<Record<string, number>>,
  inputs: readonly string[] = []
) {
  const { bytes, initializers } = fileOf(tables)
  const names = ['data', 'ids', 'scales', ...(tables.some(({ name }) => name === 'zeros') ? ['zeros'] : [])]
  const parts = onnxBytes({
    opset: 21,
    domains: ['com.microsoft'],
    inputs: [port('ids', 'int64'), ...(inputs.includes('scales') ? [port('scales', 'float')] : [])],
    outputs: [port('rows', 'float')],
    initializers: initializers.filter((_, i) => !inputs.includes(tables[i].name)),
    nodes: [node('GatherBlockQuantized', names, ['rows'], attributes, 'com.microsoft')]
  })
  const load = (source: ByteSource): Model =>
    loadOnnx(bytesSource('m.onnx', parts), { file: 'm.onnx', openExternal: () => source })
  return { bytes, load }
}

const ids = (values: readonly number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const run = async (session: InferenceSession, list: readonly number[], feeds: Record<string, Tensor> = {}) =>
  (await session.run({ ids: ids(list), ...feeds })).rows

const SMALL: readonly (readonly [string, readonly Table[], Record<string, number>])[] = [
  ...[2, 4, 8].map(
    bits =>
      [
        `codes of ${bits} bits in bytes`,
        [
          { name: 'data', type: 'uint8', dims: [1024, 8 * bits] },
          { name: 'scales', type: 'float32', dims: [1024, 4] },
          { name: 'zeros', type: 'uint8', dims: [1024, Math.ceil(bits / 2)] }
        ],
        { bits, block_size: 16 }
      ] as const
  ),
  [
    'uint4, whose rows are packed in the file',
    [
      { name: 'data', type: 'uint4', dims: [1024, 2, 32] },
      { name: 'scales', type: 'float32', dims: [1024, 2, 2] },
      { name: 'zeros', type: 'uint4', dims: [1024, 2, 2] }
    ],
    { block_size: 16, quantize_axis: 2 }
  ],
  [
    'int4 with zero points whose rows are no whole bytes',
    [
      { name: 'data', type: 'int4', dims: [1, 1024, 48] },
      { name: 'scales', type: 'float32', dims: [1, 1024, 3] },
      { name: 'zeros', type: 'int4', dims: [1, 1024, 3] }
    ],
    { block_size: 16, quantize_axis: -1, gather_axis: 1 }
  ],
  [
    '8-bit floats with a scale of all rows',
    [
      { name: 'data', type: 'float8e4m3fn', dims: [1024, 64] },
      { name: 'scales', type: 'float32', dims: [1, 4] }
    ],
    { block_size: 16 }
  ]
]

describe('tables that are looked up together', () => {
  test('are all read by the row', async () => {
    const rows = 2 ** 20
    const { bytes, load } = modelOf(
      [
        { name: 'data', type: 'uint8', dims: [rows, 16] },
        { name: 'scales', type: 'float32', dims: [rows, 2] },
        { name: 'zeros', type: 'uint8', dims: [rows, 1] }
      ],
      { block_size: 16 }
    )
    const file = counting(bytes)
    const list = Array.from({ length: 20 }, (_, i) => (i * 48271 * 17) % rows)
    const result = await run(new InferenceSession(load(file)), list)
    expect(file.bytes).toBeLessThan(10_000)
    const whole = await run(new InferenceSession(load(bytesSource('w.bin', bytes))), list)
    expect(result.dims).toEqual([20, 32])
    expect([...result.data]).toEqual([...whole.data])
  })

  test.each(SMALL)('give what they give as a whole, whatever memory there is: %s', (_, tables, attributes) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: -1100, max: 1100 }), { maxLength: 6 }), { minLength: 1, maxLength: 8 }),
        fc.constantFrom(8_000, 25_000, 90_000, 1_000_000),
        async (lists, maxMemory) => {
          const { bytes, load } = modelOf(tables, attributes)
          const session = new InferenceSession(load(counting(bytes)), { maxMemory })
          const expected = new InferenceSession(load(bytesSource('w.bin', bytes)))
          for (const list of lists) {
            const [found, whole] = [await run(session, list), await run(expected, list)]
            expect([found.dims, [...found.data]]).toEqual([whole.dims, [...whole.data]])
          }
        }
      ),
      { numRuns: 25 }
    )
  )

  test('are cut where they are no constants, beside one that is read by the row', async () => {
    const [, tables, attributes] = SMALL[1]
    const { bytes, load } = modelOf(tables, attributes, ['scales'])
    const scales = new Tensor(
      'float32',
      Float32Array.from({ length: 4096 }, (_, i) => i),
      [1024, 4]
    )
    const file = counting(bytes)
    const list = [5, -3, 2000, 5, 700]
    const found = await run(new InferenceSession(load(file), { maxMemory: 25_000 }), list, { scales })
    const whole = await run(new InferenceSession(load(bytesSource('w.bin', bytes))), list, { scales })
    expect([...found.data]).toEqual([...whole.data])
    expect(file.bytes).toBeLessThan(25_000)
  })

  test('are whole where blocks span the rows', async () => {
    const { bytes, load } = modelOf(
      [
        { name: 'data', type: 'uint4', dims: [1024, 32] },
        { name: 'scales', type: 'float32', dims: [64, 32] }
      ],
      { block_size: 16, quantize_axis: 0 }
    )
    const list = [1, 17, 1023]
    await expect(run(new InferenceSession(load(counting(bytes)), { maxMemory: 8_000 }), list)).rejects.toMatchObject({
      code: 'limit-exceeded'
    })
    const found = await run(new InferenceSession(load(counting(bytes))), list)
    const code = (row: number): number => bytes[row * 16] & 15
    const scale = (row: number): number => (((Math.floor(row / 16) * 32) % 251) + 1) / 64
    expect(list.map((_, i) => found.data[32 * i])).toEqual(list.map(row => code(row) * scale(row)))
  })
})
