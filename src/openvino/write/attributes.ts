import { fail } from '../../errors.ts'
import type { Attribute, DeclaredDim, DeclaredType } from '../../graph/graph.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'

/** The name of an element type in `<data>`: `f32`, `dynamic` where it is not known. */
export const typeName = (type: DType | undefined): string => openvinoType(type)?.openvino ?? 'dynamic'

/** The precision of a port: `FP32`, `UNSPECIFIED` where the type is not known. */
export const precisionOf = (type: DType | undefined): string => openvinoType(type)?.precision ?? 'UNSPECIFIED'

function openvinoType(type: DType | undefined) {
  if (type === undefined) return undefined
  const info = DTYPES[type]
  if (info.openvino === undefined) fail('type-not-allowed', `OpenVINO has no element type ${type}`)
  return info
}

/** A partial shape as the `<data>` of a Parameter has it: `1,?,3..10,..5,2..`, `...` for an unknown rank. */
export const partialShape = (dims: readonly DeclaredDim[] | undefined): string =>
  dims === undefined ? '...' : dims.map(partialDim).join(',')

function partialDim(dim: DeclaredDim): string {
  if (typeof dim === 'number') return String(dim)
  if (dim === null || typeof dim === 'string') return '?'
  const { min, max } = dim
  if (min === max) return String(min)
  if (max === Infinity) return min === 0 ? '?' : `${min}..`
  return min === 0 ? `..${max}` : `${min}..${max}`
}

/** The dims of a port: -1 for one that is no number; none where the rank is not known. */
export const portDims = (declared: DeclaredType | undefined): readonly number[] => {
  const { dims } = tensorOf(declared)
  return (dims ?? []).map(dim => (typeof dim === 'number' ? dim : -1))
}

/** The declared tensor type; no type and no rank where nothing is declared. */
export function tensorOf(declared: DeclaredType | undefined): Extract<DeclaredType, { kind: 'tensor' }> {
  if (declared === undefined) return { kind: 'tensor' }
  if (declared.kind !== 'tensor') fail('type-not-allowed', `OpenVINO has no values of kind ${declared.kind}`)
  return declared
}

/** An attribute as `<data>` has it: lists joined by `", "`, a float with 17 significant digits. */
export function attributeText(attribute: Attribute): string {
  switch (attribute.kind) {
    case 'text':
    case 'string':
      return attribute.value
    case 'int':
      return String(attribute.value)
    case 'ints':
    case 'strings':
      return attribute.value.join(', ')
    case 'float':
      return floatText(attribute.value)
    case 'floats':
      return attribute.value.map(floatText).join(', ')
    case 'type':
      return typeName(tensorOf(attribute.value).type)
    default:
      return fail('invalid-graph', `IR has no attributes of kind ${attribute.kind}`)
  }
}

/** A float with the digits that OpenVINO writes: 17 significant ones of the double, without zeros at the end. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (Number.isInteger(value) && Math.abs(value) < 1e17) return Object.is(value, -0) ? '-0' : String(value)
  const text = value.toPrecision(17)
  const [digits, exponent] = text.split('e')
  const short = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
  // C writes exponents with two digits, and powers below 1e-4 with an exponent.
  const power = exponent === undefined ? Math.floor(Math.log10(Math.abs(value))) : Number(exponent)
  if (exponent === undefined && power >= -4) return short
  const [mantissa] = value.toExponential(16).split('e')
  const sign = power < 0 ? '-' : '+'
  return `${mantissa.replace(/\.?0+$/, '')}e${sign}${String(Math.abs(power)).padStart(2, '0')}`
}
