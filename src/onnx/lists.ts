import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Attribute } from '../graph/graph.ts'
import { decodeSafeIntegers, decodeTyped, MAX_VARINT, payloadBytes } from './elements.ts'
import type { Payload } from './skim.ts'

/** Attributes whose entries may be left in the file. */
type List = Extract<Attribute, { kind: 'floats' | 'ints' | 'strings' }>

/** Bytes of the texts of one list. */
const MAX_TEXT = 2 ** 28

/**
 * An attribute whose entries are decoded when somebody reads them, and again when they have been forgotten: operators
 * make arrays of their own of long lists.
 * @param payloads where the entries are, in the order of the list; at least one
 * @throws NodewiseError `invalid-file` where they cannot be decoded, `limit-exceeded`
 */
export function listInFile(kind: List['kind'], payloads: readonly Payload[], source: ByteSource): List {
  const count = payloads.reduce((sum, payload) => sum + countOf(kind, payload, source), 0)
  const content = payloads.reduce((sum, payload) => sum + payload.content, 0)
  if (kind === 'strings') {
    if (content > MAX_TEXT) fail('limit-exceeded', `a list of texts has ${content} bytes; at most ${MAX_TEXT} are read`)
    const read = remembered(() => decodeTyped('string', [count], payloads, source).data as readonly string[])
    return {
      kind,
      get value() {
        return read()
      }
    }
  }
  if (kind === 'ints') {
    const read = remembered(() => arrayOf(decodeTyped('int64', [count], payloads, source).data as BigInt64Array))
    return {
      kind,
      get value() {
        return read()
      },
      get numbers() {
        return decodeSafeIntegers(count, payloads, source)
      }
    }
  }
  const read = remembered(() => arrayOf(decodeTyped('float32', [count], payloads, source).data as Float32Array))
  return {
    kind,
    get value() {
      return read()
    }
  }
}

/** The entries as an array. Trees have many; `Array.from`, which asks an iterator, takes three times as long. */
function arrayOf<T>(entries: ArrayLike<T>): T[] {
  const list = new Array<T>(entries.length)
  for (let i = 0; i < list.length; i++) list[i] = entries[i]
  return list
}

/** Keeps what `read` gives as long as somebody else does. */
function remembered<T extends object>(read: () => T): () => T {
  let kept: WeakRef<T> | undefined
  return () => {
    const held = kept?.deref()
    if (held !== undefined) return held
    const value = read()
    kept = new WeakRef(value)
    return value
  }
}

/** The skim has checked entries with tags of their own; of packed ones it knows the length only. */
function countOf(kind: List['kind'], payload: Payload, source: ByteSource): number {
  if (payload.tagged) return payload.elements
  const { length, offset } = payload
  const broken = (): never =>
    fail('invalid-file', `AttributeProto.${kind} at byte ${offset} ends within an entry`, { offset })
  if (kind === 'floats') return length % 4 === 0 ? length / 4 : broken()
  let count = 0
  let size = 0
  for (const byte of payloadBytes(payload, source)) {
    if (++size > MAX_VARINT)
      fail('invalid-file', `AttributeProto.${kind} at byte ${offset}: a number has more than 64 bits`, { offset })
    if (byte >= 128) continue
    count++
    size = 0
  }
  return size === 0 ? count : broken()
}
