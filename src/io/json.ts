import { fail } from '../errors.ts'
import type { DeclaredType } from '../graph/graph.ts'
import { isTensor, type Value } from '../tensor/tensor.ts'
import { mapFromJson, mapsToJson, mapToJson, typedMaps } from './json-map.ts'
import { dataToJson, tensorFromJson } from './json-tensor.ts'
import { isJsonObject, type Json } from './json-text.ts'

/**
 * A value from JSON: a tensor, a sequence from an array of `{"type", "dims", "data"}` objects, an absent optional from
 * null, or a map. A map, or a sequence of maps, is `{"type": "map(string,float32)", "value": [[key, value], …]}`; where
 * a map is declared, its pairs alone or an object of keys and values are one, too.
 * @param declared type that is expected: a literal is read as that kind of value and element type. The `type` of an
 *   object takes precedence.
 * @throws NodewiseError as {@link tensorFromJson} and {@link mapFromJson}
 */
export function valueFromJson(value: Json, declared?: DeclaredType): Value {
  if (declared?.kind === 'optional' || value === null) {
    const element = declared?.kind === 'optional' ? declared.element : undefined
    return { type: 'optional', value: value === null ? undefined : valueFromJson(value, element) }
  }
  const typed = typedMaps(value)
  if (typed) return valueFromJson(typed.value, typed.declared)
  if (declared?.kind === 'map') return mapFromJson(value, declared)
  if (declared?.kind === 'sequence' || (declared === undefined && isListOfValues(value))) {
    if (!Array.isArray(value)) fail('type-mismatch', 'a sequence is written as an array of its values')
    return { type: 'sequence', values: value.map(item => valueFromJson(item, declared?.element)) }
  }
  const type = declared?.kind === 'tensor' ? declared.type : undefined
  return tensorFromJson(value, isJsonObject(value) && value.type !== undefined ? {} : { type })
}

/**
 * A value as JSON, exact: `{type, dims, data}` with flat data for a tensor, `{type, value}` for a map and a sequence of
 * maps, an array of such objects for another sequence, null for an absent optional.
 */
export function valueToJson(value: Value): Json {
  if (isTensor(value)) return { type: value.type, dims: [...value.dims], data: dataToJson(value) }
  if (value.type === 'map') return mapToJson(value)
  if (value.type === 'optional') return value.value === undefined ? null : valueToJson(value.value)
  return mapsToJson(value) ?? value.values.map(valueToJson)
}

const isListOfValues = (value: Json): value is readonly Json[] =>
  Array.isArray(value) && value.length > 0 && value.every(item => isJsonObject(item) || item === null)
