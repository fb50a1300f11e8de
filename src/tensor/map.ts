import { fail } from '../errors.ts'
import type { DType } from './dtype.ts'
import { type Element, elementsOf, listOf } from './elements.ts'
import type { KeyType, MapValue, Value } from './tensor.ts'

/** A key of a map. */
export type Key = bigint | string

export const isKeyType = (type: DType | undefined): type is KeyType => type === 'int64' || type === 'string'

/** `map(int64,float32)`; a type that is not known is `?`. */
export const mapType = (keyType: KeyType | undefined, valueType: DType | undefined): string =>
  `map(${keyType ?? '?'},${valueType ?? '?'})`

/** What a value is, for messages: `tensor`, `sequence`, `optional` or `map`. */
export const kindOf = ({ type }: Value): 'tensor' | 'sequence' | 'optional' | 'map' =>
  type === 'sequence' || type === 'optional' || type === 'map' ? type : 'tensor'

/** A kind of value with its article: `a tensor`, `an optional`. */
export const withArticle = (kind: string): string => `${kind === 'optional' ? 'an' : 'a'} ${kind}`

/** What a value is, with its article. */
export const kindText = (value: Value): string => withArticle(kindOf(value))

/**
 * A map of pairs, in their order. Keys of type int64 may be given as numbers; values are rounded to their type.
 * @throws NodewiseError `type-mismatch` for keys or values that do not fit their type, `value-out-of-range` for a key
 *   beyond 64 bits or one that is there twice
 */
export function mapOf(
  keyType: KeyType,
  valueType: DType,
  pairs: Iterable<readonly [key: Key | number, value: Element]>
): MapValue {
  if (!isKeyType(keyType)) fail('type-mismatch', `keys of type "${String(keyType)}" are not known: int64 or string`)
  const keys: Key[] = []
  const values: Element[] = []
  for (const [key, value] of pairs) {
    keys.push(keyOf(keyType, key))
    values.push(value)
  }
  const stored = elementsOf(listOf(valueType, values))
  const entries = new Map<Key, Element>()
  for (const [i, key] of keys.entries()) {
    if (entries.has(key)) fail('value-out-of-range', `the key ${keyText(key)} is there twice`)
    entries.set(key, stored[i])
  }
  return { type: 'map', keyType, valueType, entries }
}

function keyOf(type: KeyType, key: Key | number): Key {
  if (type === 'string') return typeof key === 'string' ? key : wrongKey(type, key)
  const whole = typeof key === 'number' && Number.isSafeInteger(key) ? BigInt(key) : key
  if (typeof whole !== 'bigint') return wrongKey(type, key)
  if (BigInt.asIntN(64, whole) !== whole) fail('value-out-of-range', `the key ${whole} does not fit int64`)
  return whole
}

const wrongKey = (type: KeyType, key: Key | number): never =>
  fail('type-mismatch', `the key ${typeof key === 'string' ? keyText(key) : String(key)} is not of type ${type}`)

/** A key in a message; long ones are cut. */
export const keyText = (key: Key): string =>
  typeof key === 'bigint' ? `${key}` : JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key)

/**
 * A Map of JavaScript with types, its pairs as they are. Types that are not known are those that its first pair
 * suggests: int64 or string keys, float32, int64, bool or string values.
 */
export function withTypes(
  map: ReadonlyMap<Key | number, Element>,
  { keyType, valueType }: { readonly keyType?: KeyType | undefined; readonly valueType?: DType | undefined }
): MapValue {
  const [[key, value] = [undefined, undefined]] = map
  return {
    type: 'map',
    keyType: keyType ?? (typeof key === 'string' ? 'string' : 'int64'),
    valueType: valueType ?? naturalType(value),
    entries: map as ReadonlyMap<Key, Element>
  }
}

function naturalType(value: Element | undefined): DType {
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'float32'
}

/** Values of some keys as a tensor of one dim; every key must be there. */
export const valuesOf = ({ entries, valueType }: MapValue, keys: readonly Key[]) =>
  listOf(
    valueType,
    keys.map(key => (entries as ReadonlyMap<Key, Element>).get(key)!)
  )
