import { fail } from '../errors.ts'
import type { DeclaredType, GraphPort, Model } from '../graph/graph.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, dtypeName } from '../tensor/dtype.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'

/** What the file declares of an input or output. */
export const declaredOf = (model: Model, port: GraphPort): DeclaredType | undefined =>
  port.declared ?? model.graph.values.get(port.value)?.declared

/**
 * The type that callers see at a border of an IR of version 10, where it differs from the file's: float16 inputs are float32; outputs are int32
 * or float32 (openvino_ir_facts §1.8, as `Core::read_model` does).
 */
export function borderType(model: Model, side: 'input' | 'output', type: DType): DType {
  if (model.dialect !== 'openvino' || model.irVersion !== 10 || type === 'string') return type
  if (side === 'input') return type === 'float16' ? 'float32' : type
  return ['int64', 'uint64', 'int32', 'uint32'].includes(type) ? 'int32' : 'float32'
}

/**
 * A caller's value as the graph wants it.
 * @throws NodewiseError `type-mismatch`, `rank-mismatch`, `shape-mismatch` when it is not what the model declares
 * @param names sizes that names of dims have got so far
 */
export function acceptInput(model: Model, port: GraphPort, value: Value, names: Map<string, { size: number; input: string }>): Value {
  const declared = declaredOf(model, port)
  const place = { ...port.place, value: port.name }
  if (declared === undefined || declared.kind === 'other') return value
  if (declared.kind === 'optional' && value.type !== 'optional') return { type: 'optional', value }
  if (declared.kind !== 'tensor' || !isTensor(value)) {
    const found = isTensor(value) ? 'tensor' : value.type
    if (found !== declared.kind) fail('type-mismatch', `input "${port.name}" is a ${declared.kind}; a ${found} is given`)
    return value
  }
  const wanted = declared.type && borderType(model, 'input', declared.type)
  if (wanted !== undefined && value.type !== wanted) {
    fail('type-mismatch', `input "${port.name}" has type ${dtypeName(wanted, model.dialect)}; ${dtypeName(value.type, model.dialect)} is given`, { place })
  }
  checkDims(port.name, declared, value, names)
  return declared.type !== undefined && declared.type !== wanted ? convert(value, declared.type) : value
}

function checkDims(input: string, declared: Extract<DeclaredType, { kind: 'tensor' }>, { dims }: Tensor, names: Map<string, { size: number; input: string }>): void {
  if (declared.dims === undefined) return
  if (declared.dims.length !== dims.length) fail('rank-mismatch', `input "${input}" has rank ${declared.dims.length}; dims [${dims.join(', ')}] are given`)
  declared.dims.forEach((dim, i) => {
    if (dim === null) return
    if (typeof dim === 'string') {
      const seen = names.get(dim)
      if (seen && seen.size !== dims[i]) fail('shape-mismatch', `dim ${i} of input "${input}" is "${dim}", which is ${seen.size} in input "${seen.input}"; ${dims[i]} is given`)
      names.set(dim, { size: dims[i], input })
      return
    }
    const { min, max } = typeof dim === 'number' ? { min: dim, max: dim } : dim
    if (dims[i] < min || dims[i] > max) {
      fail('shape-mismatch', `dim ${i} of input "${input}" is ${min === max ? min : `${min}..${max === Infinity ? '' : max}`}; dims [${dims.join(', ')}] are given`)
    }
  })
}

/** A graph's value as the caller gets it. */
export const presentOutput = (model: Model, value: Value): Value =>
  isTensor(value) && borderType(model, 'output', value.type) !== value.type ? convert(value, borderType(model, 'output', value.type)) : value
