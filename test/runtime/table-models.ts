import type { NodewiseError } from '../../src/errors.ts'
import { type ByteSource, bytesSource } from '../../src/files/byte-source.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession, type SessionOptions } from '../../src/index.ts'
import { loadOnnx } from '../../src/onnx/load.ts'
import { loadOpenvino } from '../../src/openvino/load.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { layer, net } from '../openvino/ir.ts'

/** A source that counts what is read of it, and never hands out views of memory. */
export interface Counting extends ByteSource {
  bytes: number
  largest: number
}

export const counting = (source: ByteSource): Counting => ({
  name: source.name,
  size: source.size,
  bytes: 0,
  largest: 0,
  read(offset, length, target) {
    this.bytes += length
    this.largest = Math.max(this.largest, length)
    return source.inMemory ? source.read(offset, length).slice() : source.read(offset, length, target)
  }
})

/** A tensor `table` in a file beside the model. */
export const external = (dims: readonly number[], offset = 0, dataType = 1): object => ({
  name: 'table',
  dims,
  dataType,
  dataLocation: 1,
  externalData: [
    { key: 'location', value: 'w.bin' },
    { key: 'offset', value: `${offset}` }
  ]
})

/** A model that looks rows of `table` up. */
export const gathered = (parts: Partial<ModelParts> = {}, axis = 0): ModelParts => ({
  inputs: [port('ids', 'int64')],
  outputs: [port('rows', 'float')],
  nodes: [node('Gather', ['table', 'ids'], ['rows'], { axis })],
  ...parts
})

export const onnx = (parts: ModelParts, weights?: ByteSource): Model =>
  loadOnnx(bytesSource('m.onnx', onnxBytes(parts)), { file: 'm.onnx', ...(weights && { openExternal: () => weights }) })

const PRECISION: Readonly<Record<string, string>> = {
  i64: 'I64',
  f32: 'FP32',
  boolean: 'BOOL',
  u1: 'BIN',
  u2: 'U2',
  u3: 'U3',
  u4: 'U4',
  i4: 'I4',
  u6: 'U6',
  nf4: 'NF4'
}
/** Bits of an element in the file. */
export const BITS: Readonly<Record<string, number>> = {
  i64: 64,
  f32: 32,
  boolean: 8,
  u1: 1,
  u2: 2,
  u3: 3,
  u4: 4,
  i4: 4,
  u6: 6,
  nf4: 4
}
/**
 * A Const of the .bin, from its start, whose rows a layer looks up; their axis and default index follow it in the file.
 */
export function ir(
  dims: readonly number[],
  bin: ByteSource,
  lookup: 'Gather' | 'EmbeddingBagOffsetsSum',
  type = 'f32'
): Model {
  const count = dims.reduce((a, b) => a * b, 1)
  const size = Math.ceil((count * BITS[type]) / 8)
  const constant = (id: number, element: string, shape: string, offset: number, bytes: number, names = ''): string =>
    layer(id, 'Const', {
      ...(names && { names }),
      data: `element_type="${element}" shape="${shape}" offset="${offset}" size="${bytes}"`,
      out: [`0:${PRECISION[element]}[${shape}]`]
    })
  const isBag = lookup !== 'Gather'
  return loadOpenvino(
    bytesSource(
      'm.xml',
      new TextEncoder().encode(
        net(
          [
            constant(0, type, dims.join(','), 0, size, 'table'),
            layer(1, 'Parameter', {
              name: 'ids',
              data: `shape="?" element_type="i64"`,
              out: ['0:I64[-1]'],
              names: 'ids'
            }),
            ...(isBag
              ? [
                  layer(2, 'Parameter', {
                    name: 'offsets',
                    data: 'shape="?" element_type="i64"',
                    out: ['0:I64[-1]'],
                    names: 'offsets'
                  })
                ]
              : []),
            constant(3, 'i64', '', size, 8),
            layer(4, lookup, {
              version: isBag ? 'opset3' : 'opset8',
              ...(!isBag && { data: 'batch_dims="0"' }),
              in: isBag ? ['0', '1', '2', '3'] : ['0', '1', '2'],
              out: [`4:${PRECISION[type]}[-1${',-1'.repeat(dims.length - 1)}]`],
              names: 'rows'
            }),
            layer(5, 'Result', { in: ['0'] })
          ],
          isBag ? ['0:0>4:0', '1:0>4:1', '2:0>4:2', '3:0>4:3', '4:4>5:0'] : ['0:0>4:0', '1:0>4:1', '3:0>4:2', '4:4>5:0']
        )
      )
    ),
    { file: 'm.xml', bin: () => bin }
  )
}

export const ids = (values: readonly number[], dims = [values.length]): Tensor =>
  new Tensor('int64', values.map(BigInt), dims)
/** Numbers that depend on the seed alone. */
export const random = (count: number, below: number, seed = 1): number[] => {
  let state = seed
  return Array.from({ length: count }, () => (state = (state * 48271) % 0x7fffffff) % below)
}

export const MIB = 2 ** 20

const PRIME = 65521

/** Element `i` of a table is `i` modulo a prime, so that rows differ. */
export const valueAt = (i: number): number => i % PRIME

/** Elements from `first` on, without a division for each. */
function fillFrom(first: number, values: Float32Array): Float32Array {
  for (let i = 0, value = valueAt(first); i < values.length; i++, value = value + 1 === PRIME ? 0 : value + 1)
    values[i] = value
  return values
}

/** The first bytes of a table of float32. */
export const tableBytes = (elements: number): Uint8Array =>
  new Uint8Array(fillFrom(0, new Float32Array(elements)).buffer)

/** The first elements of an endless list, whose longest part that was asked for is kept. */
export function firstOf<A extends Uint8Array | Float32Array>(make: (length: number) => A): (length: number) => A {
  let known = make(0)
  return length => {
    if (known.length < length) known = make(length)
    return known.subarray(0, length) as A
  }
}

/** Rows of such a table. */
export function rowsOfTable(rows: readonly number[], width: number): Float32Array {
  const result = new Float32Array(rows.length * width)
  rows.forEach((row, i) => fillFrom(row * width, result.subarray(i * width, (i + 1) * width)))
  return result
}

/** What a run gives, or its failure. */
export async function outcome(
  model: Model,
  feeds: Record<string, Tensor>,
  options: SessionOptions = {}
): Promise<unknown> {
  try {
    return (await new InferenceSession(model, options).run(feeds)).rows
  } catch (error) {
    const { code, reason, details } = error as NodewiseError
    return { code, reason, details }
  }
}
