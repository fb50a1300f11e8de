import type { OpSchema } from '../bind/schema.ts'
import { fail } from '../errors.ts'
import type { Attribute, Constant, Dialect } from '../graph/graph.ts'
import type { Written } from '../op-kit/source-types.ts'
import { DTYPES } from '../tensor/dtype.ts'

/** The attribute of a new node, in the kind that the dialect has for it. */
export function attributeOf(dialect: Dialect, name: string, value: Written, schema: OpSchema | undefined): Attribute {
  if (dialect === 'openvino') return { kind: 'text', value: textOf(value), place: {} }
  const kind = schema?.attributes.get(name)?.kind ?? guessedKind(value)
  switch (kind) {
    case 'int':
      return { kind, value: integerOf(name, value) }
    case 'float':
      return { kind, value: Math.fround(Number(value)) }
    case 'string':
      return { kind, value: String(value) }
    case 'ints':
      return { kind, value: (value as readonly (number | bigint)[]).map(BigInt) }
    case 'floats':
      return { kind, value: (value as readonly number[]).map(item => Math.fround(Number(item))) }
    case 'strings':
      return { kind, value: value as readonly string[] }
    case 'tensor':
      return { kind, value: value as Constant }
    default:
      return fail('internal', `attribute "${name}" is of kind ${kind}, which nobody writes`)
  }
}

function guessedKind(value: Written): string {
  if (Array.isArray(value)) return typeof value[0] === 'string' ? 'strings' : 'ints'
  return typeof value === 'string' ? 'string' : typeof value === 'object' && 'read' in value ? 'tensor' : 'int'
}

function integerOf(name: string, value: Written): bigint {
  if (typeof value === 'object' && 'dtype' in value)
    return BigInt(DTYPES[value.dtype].onnx ?? fail('unsupported-op', `ONNX has no type ${value.dtype}`))
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? BigInt(value)
    : fail('internal', `attribute "${name}" is no integer`)
}

/** IR writes everything as text. */
function textOf(value: Written): string {
  if (typeof value === 'object' && 'dtype' in value)
    return DTYPES[value.dtype].openvino ?? fail('unsupported-op', `OpenVINO has no type ${value.dtype}`)
  if (Array.isArray(value)) return (value as readonly (number | bigint | string)[]).map(numberText).join(',')
  if (typeof value === 'object') return fail('internal', 'IR has no attributes that are tensors')
  return numberText(value)
}

/** Floats of single precision in as few digits as tell them apart; infinity and NaN as C++ prints them. */
function numberText(value: number | bigint | boolean | string): string {
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value)
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Math.fround(value) !== value) return String(value)
  for (let digits = 1; digits < 10; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(value)
}

/** Whether two attributes say the same. */
export function isSameAttribute(a: Attribute, b: Attribute): boolean {
  if (a.kind !== b.kind) return false
  const [left, right]: unknown[] = [a.value, b.value]
  if (!Array.isArray(left) || !Array.isArray(right)) return Object.is(left, right)
  return left.length === right.length && left.every((item, i) => Object.is(item, right[i]))
}
