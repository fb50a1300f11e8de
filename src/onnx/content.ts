import type { ByteSource } from '../files/byte-source.ts'
import type { ByteRange } from '../graph/graph.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import type { DType } from '../tensor/dtype.ts'
import { isCoded } from '../tensor/packing.ts'
import { elementCount, fileBytes, type Tensor } from '../tensor/tensor.ts'
import type { FileContext, Problem } from './context.ts'
import { decodeTyped, entryBounds, payloadBytes, typedEntries, typedFieldOf } from './elements.ts'
import type { TensorProto } from './schema.js'
import type { Payload } from './skim.ts'

/** What a TensorProto says of itself; its elements may disagree. */
export interface Claim {
  readonly type: DType
  readonly dims: readonly number[]
  /** How messages call the tensor. */
  readonly title: string
}

const described = ({ title, type, dims }: Claim): string => `${title} of type ${type} and dims [${dims.join(', ')}]`

/** The elements of a tensor, not read yet: what is wrong with them, or how to read them. */
export type Content =
  | { readonly byteLength: number; readonly problem: Problem }
  | { readonly byteLength: number; readonly raw?: ByteRange; readonly read: () => Tensor; readonly verify?: () => void }

const EXTERNAL = 1

/** Finds the elements of a tensor without reading them: in another file, in `raw_data`, or in the field of its type. */
export function contentOf(proto: TensorProto, claim: Claim, context: FileContext): Content {
  if (proto.data_location === EXTERNAL) return externalContent(proto, claim, context)
  const { source, payloads } = context
  const field = typedFieldOf(claim.type)
  const typed: Payload[] = []
  let raw: Payload | undefined
  let other: Payload | undefined
  for (const number of proto.payload) {
    const payload = payloads[number]
    if (payload.field === field) typed.push(payload)
    else other ??= payload
    // As for every singular field of protobuf, the last value counts.
    if (payload.field === 'raw_data') raw = payload
  }
  if (raw !== undefined && claim.type !== 'string' && (raw.length > 0 || typed.length === 0))
    return rawContent(raw, claim, source)
  const content = typedContent(typed, claim, source)
  if (!('problem' in content) || typed.length > 0 || other === undefined) return content
  return { ...content, problem: { ...content.problem, message: `${content.problem.message} (it has ${other.field})` } }
}

function rawContent(payload: Payload, claim: Claim, source: ByteSource): Content {
  const { type, dims } = claim
  const { offset, length: byteLength } = payload
  const expected = fileBytes(type, elementCount(dims))
  if (byteLength !== expected) return { byteLength, problem: wrongSize(claim, expected, byteLength, 'bytes') }
  const read = (): Tensor => tensorOfBytes(type, dims, payloadBytes(payload, source), 'onnx')
  return { byteLength, raw: byteRange(type, source, offset, byteLength), read }
}

function typedContent(payloads: readonly Payload[], claim: Claim, source: ByteSource): Content {
  const { type, dims } = claim
  const count = elementCount(dims)
  const expected = typedEntries(type, count)
  const { min, max } = entryBounds(type, payloads)
  const byteLength =
    type === 'string' ? payloads.reduce((total, payload) => total + payload.content, 0) : fileBytes(type, count)
  if (expected >= min && expected <= max) return { byteLength, read: () => decodeTyped(type, dims, payloads, source) }
  const found = Math.floor(expected < min ? min : max)
  return { byteLength: 0, problem: wrongSize(claim, expected, found, `entries of ${typedFieldOf(type)}`) }
}

function externalContent(proto: TensorProto, claim: Claim, context: FileContext): Content {
  const { type, dims } = claim
  const entries = new Map(proto.external_data.map(({ key, value }) => [key, value]))
  const location = entries.get('location') ?? ''
  const offset = byteNumber(entries.get('offset') ?? '0')
  const byteLength = fileBytes(type, elementCount(dims))
  const stated = byteNumber(entries.get('length') ?? '0')
  // ONNX and ONNX Runtime take a length of 0 for one that is not stated.
  const length = stated === 0 ? byteLength : stated
  const invalid = (why: string): Content => ({
    byteLength,
    problem: { code: 'external-data', message: `${described(claim)} ${why}` }
  })
  if (type === 'string') return invalid('is external, which strings cannot be')
  if (location === '') return invalid('is external without a location')
  if (offset === undefined) return invalid(`is external at "${entries.get('offset')}", which is no offset`)
  if (length === undefined) return invalid(`is external with "${entries.get('length')}", which is no length`)
  if (length !== byteLength) return { byteLength, problem: wrongSize(claim, byteLength, length, 'bytes') }
  const source = context.external(location)
  const read = (): Tensor => tensorOfBytes(type, dims, source.read(offset, length), 'onnx')
  return {
    byteLength,
    raw: byteRange(type, source, offset, length),
    read,
    verify: () => {
      source.read(offset + length, 0)
    }
  }
}

const byteRange = (type: DType, source: ByteSource, offset: number, length: number): ByteRange => ({
  source,
  offset,
  length,
  ...(isCoded(type) && { layout: 'onnx' })
})

/** A number of bytes as entries of external data have it, in decimal digits; undefined for other text. */
function byteNumber(text: string): number | undefined {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) ? number : undefined
}

const wrongSize = (claim: Claim, expected: number, found: number, unit: string): Problem => ({
  code: 'constant-size',
  message: `${described(claim)} needs ${expected} ${unit}, ${found} are there`
})
