import { fail } from '../errors.ts'
import type { DeclaredType } from '../graph/graph.ts'
import { type DType, dtypeFromName } from '../tensor/dtype.ts'
import { type Element, elementsOf } from '../tensor/elements.ts'
import { isKeyType, type Key, mapOf, mapType } from '../tensor/map.ts'
import type { MapValue, Sequence } from '../tensor/tensor.ts'
import { tensorFromJson } from './json-tensor.ts'
import { isJsonObject, type Json } from './json-text.ts'

type DeclaredMap = Extract<DeclaredType, { kind: 'map' }>
type DeclaredMaps = DeclaredMap | { readonly kind: 'sequence'; readonly element: DeclaredMap }

/** A map, or a sequence of maps, that says its type. */
export interface TypedMaps {
  readonly declared: DeclaredMaps
  readonly value: Json
}

/** `map(int64,float)`, `sequence(map(string,float32))`. */
const TYPE = /^(?:(seq|sequence)\()?map\((\w+), ?(\w+)\)(\))?$/
/** Names that the ONNX standard gives types, where they differ from ours. */
const ONNX_NAMES: ReadonlyMap<string, DType> = new Map([
  ['float', 'float32'],
  ['double', 'float64']
])

/**
 * The type and the value in `{"type": "map(string,float32)", "value": …}`; undefined for any other JSON.
 * @throws NodewiseError `type-mismatch` where the type is one of maps that there are not
 */
export function typedMaps(json: Json): TypedMaps | undefined {
  if (!isJsonObject(json) || typeof json.type !== 'string' || !Array.isArray(json.value)) return undefined
  const [, sequence, key, element, end] = TYPE.exec(json.type) ?? []
  if (key === undefined || (sequence === undefined) !== (end === undefined)) return undefined
  const keyType = dtypeFromName(key)
  const valueType = ONNX_NAMES.get(element) ?? dtypeFromName(element)
  if (!isKeyType(keyType) || valueType === undefined)
    return fail('type-mismatch', `${json.type} is no type of maps: keys are int64 or string, values of an element type`)
  const map: DeclaredMap = { kind: 'map', keyType, valueType }
  return { declared: sequence === undefined ? map : { kind: 'sequence', element: map }, value: json.value as Json }
}

/**
 * A map from JSON: `[[key, value], …]`, or an object, where int64 keys are text.
 * @throws NodewiseError `type-mismatch` for keys or values of another type, `value-out-of-range` for integers that the
 *   type cannot hold and for keys that are there twice
 */
export function mapFromJson(json: Json, { keyType, valueType }: DeclaredMap): MapValue {
  const pairs = isJsonObject(json)
    ? Object.entries(json).map(([key, value]) => [keyType === 'int64' ? integerIn(key) : key, value] as const)
    : pairsIn(json)
  // Without dims an array in place of a key or a value would count as several.
  const dims = [pairs.length]
  const keys = elementsOf(
    tensorFromJson(
      pairs.map(([key]) => key),
      { type: keyType, dims }
    )
  ) as Key[]
  const values = tensorFromJson(
    pairs.map(([, value]) => value),
    { type: valueType, dims }
  )
  const elements = elementsOf(values)
  return mapOf(
    keyType,
    values.type,
    keys.map((key, i) => [key, elements[i]])
  )
}

const integerIn = (text: string): Json => (/^[+-]?\d{1,20}$/.test(text) ? BigInt(text) : text)

function pairsIn(json: Json): readonly (readonly [key: Json, value: Json])[] {
  const isPair = (item: Json): boolean => Array.isArray(item) && item.length === 2
  if (!Array.isArray(json) || !json.every(isPair))
    fail('type-mismatch', 'a map is written as [[key, value], …] or as an object')
  return json
}

/** A map as JSON that {@link typedMaps} knows. */
export const mapToJson = (map: MapValue): Json => ({ type: mapsType(map), value: pairsToJson(map) })

/** A sequence of maps of one type as JSON that {@link typedMaps} knows; undefined for other sequences. */
export function mapsToJson(sequence: Sequence): Json | undefined {
  const type = mapsType(sequence)
  return type && { type, value: (sequence.values as readonly MapValue[]).map(pairsToJson) }
}

/** The type of a map, or of a sequence of maps of one type; undefined for other sequences. */
export function mapsType(value: MapValue): string
export function mapsType(value: MapValue | Sequence): string | undefined
export function mapsType(value: MapValue | Sequence): string | undefined {
  if (value.type === 'map') return mapType(value.keyType, value.valueType)
  const maps = value.values.filter(element => element.type === 'map')
  const types = new Set(maps.map(map => mapsType(map)))
  return maps.length < value.values.length || types.size !== 1 ? undefined : `sequence(${[...types][0]})`
}

const pairsToJson = ({ entries }: MapValue): Json => [...(entries as ReadonlyMap<Key, Element>)]
