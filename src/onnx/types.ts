import type { DeclaredDim, DeclaredType } from '../graph/graph.ts'
import { type DType, dtypeFromOnnx } from '../tensor/dtype.ts'
import { isKeyType, mapType } from '../tensor/map.ts'
import { MAX_RANK } from '../tensor/tensor.ts'
import { type Problem, unknownType } from './context.ts'
import { isSet, numberOf } from './numbers.ts'
import type { DimensionProto, MapTypeProto, TensorShapeProto, TypeProto } from './schema.js'

type Report = (problem: Problem) => void

/** The type that a TypeProto declares; undefined where it declares none. Faults go to `report`. */
export function declaredType(proto: TypeProto | null, report: Report): DeclaredType | undefined {
  if (proto === null) return undefined
  if (proto.tensor_type) return tensorType(proto.tensor_type, report)
  if (proto.sequence_type) return { kind: 'sequence', element: elementType(proto.sequence_type.elem_type, report) }
  if (proto.optional_type) return { kind: 'optional', element: elementType(proto.optional_type.elem_type, report) }
  if (proto.map_type) return declaredMap(proto.map_type, report)
  if (proto.sparse_tensor_type)
    return { kind: 'other', text: `sparse_${typeText(tensorType(proto.sparse_tensor_type, report))}` }
  if (proto.opaque_type)
    return { kind: 'other', text: `opaque(${proto.opaque_type.domain}, ${proto.opaque_type.name})` }
  return undefined
}

/** Operators know maps of int64 or string keys to single elements of tensor types; others are only named. */
function declaredMap({ key_type, value_type }: MapTypeProto, report: Report): DeclaredType {
  const keyType = dtypeFromOnnx(key_type)
  const value = declaredType(value_type, report)
  if (!isKeyType(keyType) || (value !== undefined && value.kind !== 'tensor'))
    return { kind: 'other', text: `map(${keyType ?? '?'}, ${typeText(value)})` }
  return { kind: 'map', keyType, ...(value?.type && { valueType: value.type }) }
}

const elementType = (proto: TypeProto | null, report: Report): DeclaredType =>
  declaredType(proto, report) ?? { kind: 'tensor' }

function tensorType(
  proto: { elem_type: number; shape: TensorShapeProto | null },
  report: Report
): DeclaredType & { kind: 'tensor' } {
  const type = elementTypeOf(proto.elem_type, report)
  const dims = proto.shape === null ? undefined : declaredDims(proto.shape, report)
  return { kind: 'tensor', ...(type && { type }), ...(dims && { dims }) }
}

function declaredDims({ dim: dims }: TensorShapeProto, report: Report): DeclaredDim[] | undefined {
  if (dims.length > MAX_RANK) {
    report({ code: 'invalid-dim', message: `it is declared with ${dims.length} dims; ${MAX_RANK} are possible` })
    return undefined
  }
  const declared: DeclaredDim[] = []
  for (const dim of dims) declared.push(declaredDim(dim, report))
  return declared
}

/** Names of dims become part of every expression of symbols that is computed from them, so they are limited. */
const MAX_NAME_LENGTH = 1000

function dimName(name: string, report: Report): DeclaredDim {
  // Paddle's exporter names every dim that it does not know "?"; they are not one size.
  if (name.length <= MAX_NAME_LENGTH) return name === '' || name === '?' ? null : name
  report({
    code: 'invalid-dim',
    severity: 'warning',
    message: `the name of a dim has ${name.length} characters: it is taken for unknown`
  })
  return null
}

function elementTypeOf(code: number, report: Report): DType | undefined {
  const type = dtypeFromOnnx(code)
  if (type === undefined && code !== 0) report(unknownType('it', code))
  return type
}

function declaredDim(proto: DimensionProto, report: Report): DeclaredDim {
  if (!isSet(proto, 'dim_value')) return isSet(proto, 'dim_param') ? dimName(proto.dim_param, report) : null
  const size = numberOf(proto.dim_value)
  if (Number.isSafeInteger(size) && size >= 0) return size
  // Old exporters write -1 for a size that they do not know.
  report({
    code: 'invalid-dim',
    severity: size === -1 ? 'warning' : 'error',
    message: `it is declared with a dim of ${size}`
  })
  return null
}

/** A declared type as text: `tensor(float32)[2, n]`. */
function typeText(type: DeclaredType | undefined): string {
  if (type === undefined) return '?'
  if (type.kind === 'other') return type.text
  if (type.kind === 'map') return mapType(type.keyType, type.valueType)
  if (type.kind !== 'tensor') return `${type.kind}(${typeText(type.element)})`
  const dims = type.dims?.map(dim => (dim === null ? '?' : String(dim))).join(', ')
  return `tensor(${type.type ?? '?'})${dims === undefined ? '' : `[${dims}]`}`
}

const isOtherSize = (a: DeclaredDim, b: DeclaredDim): boolean =>
  typeof a === 'number' && typeof b === 'number' && a !== b

/** Whether no value can be of both types; names of dims are labels and contradict nothing. */
export function contradict(a: DeclaredType, b: DeclaredType): boolean {
  if (a.kind !== b.kind) return true
  if (a.kind === 'tensor' && b.kind === 'tensor') {
    if (a.type && b.type && a.type !== b.type) return true
    if (!a.dims || !b.dims) return false
    const others = b.dims
    return a.dims.length !== others.length || a.dims.some((dim, i) => isOtherSize(dim, others[i]))
  }
  if (a.kind === 'map' && b.kind === 'map')
    return a.keyType !== b.keyType || (a.valueType ?? b.valueType) !== (b.valueType ?? a.valueType)
  if (!('element' in a) || !('element' in b)) return false
  return contradict(a.element, b.element)
}
