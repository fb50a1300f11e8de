import type { OpSchema } from '../bind/schema.ts'
import type { Made } from '../op-kit/conversion.ts'
import type { AnyOpVersion, Op } from '../op-kit/define.ts'
import type { Fact } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import type { NodeWriter } from './node-writer.ts'

/** Types that hold every number of a type, the first that an operator takes is used. */
const WIDER: Readonly<Partial<Record<DType, readonly DType[]>>> = {
  float16: ['float32', 'float64'],
  bfloat16: ['float32', 'float64'],
  float8e4m3fn: ['float16', 'float32'],
  float8e5m2: ['float16', 'float32'],
  float4e2m1: ['float16', 'float32'],
  float32: ['float64'],
  int4: ['int8', 'int32', 'int64'],
  int8: ['int32', 'int64', 'int16'],
  int16: ['int32', 'int64'],
  int32: ['int64'],
  uint4: ['uint8', 'int32', 'int64'],
  uint8: ['int32', 'int64', 'uint16'],
  uint16: ['int32', 'int64', 'uint32'],
  uint32: ['int64', 'uint64'],
  bool: ['uint8', 'int32']
}

/** Inputs in types that the new node takes. */
export interface Widening {
  readonly inputs: readonly (Made | undefined)[]
  /** The type that results in a wider type go back to, by the wider type. */
  readonly casts: ReadonlyMap<DType, DType>
}

/** What types an input may have, and which inputs must have the same. */
export interface InputTypes {
  readonly types: ReadonlySet<string>
  readonly variable: string
}

/** The types of a node's inputs, by position: of ONNX's schema, or of the operator version in IR. */
export function typesOf(
  version: AnyOpVersion,
  schema: OpSchema | undefined,
  op: Op
): (position: number) => InputTypes | undefined {
  if (schema) {
    const { inputs = [] } = schema
    return position => inputs[Math.min(position, inputs.length - 1)]
  }
  const names = Object.keys(op.operands)
  return position => {
    const name = names.find((operand, i) => (version.in ? version.in[operand] : i) === position)
    const types = name === undefined ? undefined : version.types?.[name]
    return types && { types: new Set(types), variable: types.join() }
  }
}

/** Casts inputs whose type the new node does not take to one that holds all their numbers. */
export function widened(
  inputs: readonly (Made | undefined)[],
  typesAt: (position: number) => InputTypes | undefined,
  w: NodeWriter
): Widening {
  const casts = new Map<DType, DType>()
  const byVariable = new Map<string, DType>()
  inputs.forEach((input, i) => {
    const type = input?.fact.kind === 'tensor' ? input.fact.type : undefined
    const port = typesAt(i)
    if (type === undefined || port === undefined || port.types.has(type)) return
    const wider = WIDER[type]?.find(candidate => port.types.has(candidate))
    if (wider === undefined) return
    byVariable.set(port.variable, wider)
    if (!casts.has(wider)) casts.set(wider, type)
  })
  if (casts.size === 0) return { inputs, casts }
  return {
    inputs: inputs.map((input, i) => {
      const wider = byVariable.get(typesAt(i)?.variable ?? '')
      return input && wider ? w.cast(input, wider) : input
    }),
    casts
  }
}

/** The results, those that came out in a wider type than the source's back in its own. */
export function checkedAgainst(
  values: readonly Made[],
  results: readonly Fact[],
  casts: ReadonlyMap<DType, DType>,
  w: NodeWriter
): readonly Made[] {
  return values.map((value, i) => {
    const made = value.fact.kind === 'tensor' ? value.fact.type : undefined
    const own = made && casts.get(made)
    const wanted = results.at(i)
    const isWanted = wanted === undefined || (wanted.kind === 'tensor' && wanted.type === own)
    return own !== undefined && isWanted ? w.cast(value, own) : value
  })
}
