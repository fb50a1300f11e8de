import { createRequire } from 'node:module'
import { expect } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { type ByteSource, bytesSource } from '../../src/files/byte-source.ts'
import type { Finding, Graph, Model } from '../../src/graph/graph.ts'
import { loadOnnx, type OnnxOptions } from '../../src/onnx/load.ts'

interface Message {
  encode(message: object): { finish(): Uint8Array }
}
type MessageName = 'ModelProto' | 'TensorProto' | 'SequenceProto' | 'OptionalProto' | 'GraphProto'
const { onnx } = createRequire(import.meta.url)('onnx-proto') as { onnx: Record<MessageName, Message> }

/** Bytes of a message, written by an independent encoder. Fields are named as in onnx.proto, in camel case. */
export const encode = (name: MessageName, message: object): Uint8Array =>
  new Uint8Array(onnx[name].encode(message).finish())

/** Element types by name (TensorProto.DataType). */
export const TYPE = {
  FLOAT: 1,
  UINT8: 2,
  INT8: 3,
  UINT16: 4,
  INT16: 5,
  INT32: 6,
  INT64: 7,
  STRING: 8,
  BOOL: 9,
  FLOAT16: 10,
  DOUBLE: 11,
  UINT32: 12,
  UINT64: 13,
  COMPLEX64: 14,
  COMPLEX128: 15,
  BFLOAT16: 16,
  FLOAT8E4M3FN: 17,
  FLOAT8E4M3FNUZ: 18,
  FLOAT8E5M2: 19,
  FLOAT8E5M2FNUZ: 20,
  UINT4: 21,
  INT4: 22,
  FLOAT4E2M1: 23,
  FLOAT8E8M0: 24,
  UINT2: 25,
  INT2: 26
}

export interface ModelFields {
  readonly graph?: object
  readonly opsetImport?: readonly object[]
  readonly [field: string]: unknown
}

/** Bytes of a model of IR version 9 that imports opset 17, unless the fields say otherwise. */
export const modelBytes = (fields: ModelFields): Uint8Array =>
  encode('ModelProto', { irVersion: 9, opsetImport: [{ domain: '', version: 17 }], graph: { name: 'g' }, ...fields })

export const loadBytes = (bytes: Uint8Array, options: Partial<OnnxOptions> = {}): Model =>
  loadOnnx(bytesSource('model.onnx', bytes), { file: 'model.onnx', ...options })

export const loadModel = (fields: ModelFields, options?: Partial<OnnxOptions>): Model =>
  loadBytes(modelBytes(fields), options)
export const loadGraph = (graph: object): Graph => loadModel({ graph: { name: 'g', ...graph } }).graph

/** A ValueInfoProto of a tensor. */
export const tensorInfo = (
  name: string,
  elemType = TYPE.FLOAT,
  dims?: readonly (number | string | null)[]
): object => ({
  name,
  type: {
    tensorType: {
      elemType,
      ...(dims && {
        shape: {
          dim: dims.map(dim => (dim === null ? {} : typeof dim === 'number' ? { dimValue: dim } : { dimParam: dim }))
        }
      })
    }
  }
})

export const codesOf = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code)

/** The error that a call throws, which must be one of this package. */
export function failure(action: () => unknown): NodewiseError {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(NodewiseError)
    return error as NodewiseError
  }
  throw new Error('nothing was thrown')
}

/** A source that notes which ranges were read. */
export function watched(source: ByteSource): ByteSource & { readonly reads: { offset: number; length: number }[] } {
  const reads: { offset: number; length: number }[] = []
  return {
    name: source.name,
    size: source.size,
    reads,
    read(offset, length) {
      reads.push({ offset, length })
      return source.read(offset, length)
    }
  }
}

/** Protobuf by hand, for what an encoder does not write. */
export const varint = (value: number | bigint): number[] => {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}
export const tag = (field: number, wire: number): number[] => varint(field * 8 + wire)
export const block = (field: number, content: Iterable<number>): number[] => {
  const bytes = [...content]
  return [...tag(field, 2), ...varint(bytes.length), ...bytes]
}
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Model bytes with these bytes as the fields of its graph. */
export const modelAround = (graph: Iterable<number>): Uint8Array =>
  Uint8Array.from([...tag(1, 0), 9, ...block(8, [...tag(2, 0), 17]), ...block(7, graph)])
