import { fail } from '../errors.ts'
import { declaredOf, type DeclaredType, type GraphPort, type InputMean, type Model } from '../graph/graph.ts'
import { binary } from '../kernels/core/elementwise.ts'
import { drain } from '../kernels/core/pace.ts'
import { SUBTRACT } from '../kernels/elementwise/binary.ts'
import { limitRank } from '../shapes/lists.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, dtypeName } from '../tensor/dtype.ts'
import type { Element } from '../tensor/elements.ts'
import { type Key, kindOf, kindText, mapOf, mapType, withArticle } from '../tensor/map.ts'
import { liesInRoom } from '../tensor/room.ts'
import { allocate, isTensor, type MapValue, type Tensor, type Value } from '../tensor/tensor.ts'

/**
 * The type that callers see of a graph's input or output. It differs from the file's in an IR of version 10: float16
 * inputs are float32, outputs are int32 or float32, as OpenVINO's `Core::read_model` converts them.
 */
export function portType(model: Model, side: 'input' | 'output', type: DType): DType {
  if (model.dialect !== 'openvino' || model.irVersion !== 10 || type === 'string') return type
  if (side === 'input') return type === 'float16' ? 'float32' : type
  return ['int64', 'uint64', 'int32', 'uint32'].includes(type) ? 'int32' : 'float32'
}

/** Sizes that named dims have, and the input that gave each. */
export type NamedSizes = Map<string, { size: number; input: string }>

/**
 * A caller's value as the graph wants it, less the input's mean values. What sequences and optionals hold is checked
 * like any other value; a name of a dim within an element of a sequence stands for a size of that element only.
 * @throws NodewiseError `type-mismatch`, `rank-mismatch`, `shape-mismatch` when it is not what the model declares
 * @param names sizes that names of dims have got so far
 */
export const acceptInput = (model: Model, port: GraphPort, value: Value, names: NamedSizes): Value =>
  accept(model, port, declaredOf(model.graph, port), value, names)

function accept(
  model: Model,
  port: GraphPort,
  declared: DeclaredType | undefined,
  value: Value,
  names: NamedSizes
): Value {
  if (isTensor(value)) {
    limitRank(value.dims.length, model.limits.rank)
    refuseMoved(port, value)
  }
  if (value.type === 'map') return acceptMap(port, declared, value)
  if (declared === undefined || declared.kind === 'other') return value
  if (declared.kind === 'optional') {
    const held = value.type === 'optional' ? value.value : value
    return { type: 'optional', value: held && accept(model, port, declared.element, held, names) }
  }
  if (kindOf(value) !== declared.kind) wrongKind(port, declared.kind, value)
  if (isTensor(value)) return declared.kind === 'tensor' ? acceptTensor(model, port, declared, value, names) : value
  if (declared.kind !== 'sequence' || value.type !== 'sequence') return value
  return { type: 'sequence', values: value.values.map(item => accept(model, port, declared.element, item, new Map())) }
}

/** Memory of an array may be moved to where it is nobody's input any more: to a worker, or back to the session. */
function refuseMoved({ name }: GraphPort, tensor: Tensor): void {
  if (liesInRoom(tensor) || tensor.data.length > 0 || tensor.dims.includes(0)) return
  fail('shape-mismatch', `input "${name}" has dims [${tensor.dims.join(', ')}], but its array is empty`)
}

function wrongKind(port: GraphPort, wanted: string, value: Value): never {
  fail('type-mismatch', `input "${port.name}" is ${withArticle(wanted)}; ${kindText(value)} is given`)
}

/** A copy whose keys and values are known to be of their types: it is the caller's, and JavaScript holds any. */
function acceptMap(port: GraphPort, declared: DeclaredType | undefined, value: MapValue): Value {
  const { keyType, valueType, entries } = value
  if (declared?.kind === 'optional') return { type: 'optional', value: acceptMap(port, declared.element, value) }
  if (declared !== undefined && declared.kind !== 'other') {
    if (declared.kind !== 'map') wrongKind(port, declared.kind, value)
    const wanted = mapType(declared.keyType, declared.valueType ?? valueType)
    if (wanted !== mapType(keyType, valueType)) {
      const place = { ...port.place, value: port.name }
      fail('type-mismatch', `input "${port.name}" has type ${wanted}; ${mapType(keyType, valueType)} is given`, {
        place
      })
    }
  }
  return mapOf(keyType, valueType, entries as ReadonlyMap<Key, Element>)
}

type DeclaredTensor = Extract<DeclaredType, { kind: 'tensor' }>

function acceptTensor(
  model: Model,
  port: GraphPort,
  declared: DeclaredTensor,
  value: Tensor,
  names: NamedSizes
): Tensor {
  const wanted = declared.type && portType(model, 'input', declared.type)
  if (wanted !== undefined && value.type !== wanted) {
    const place = { ...port.place, value: port.name }
    fail(
      'type-mismatch',
      `input "${port.name}" has type ${dtypeName(wanted, model.dialect)}; ` +
        `${dtypeName(value.type, model.dialect)} is given`,
      { place }
    )
  }
  checkDims(port.name, declared, value, names)
  const accepted = declared.type !== undefined && declared.type !== wanted ? convert(value, declared.type) : value
  return port.mean === undefined ? accepted : lessMean(accepted, port.mean)
}

function lessMean(value: Tensor, mean: InputMean): Tensor {
  const result = allocate(value.type, value.dims)
  drain(binary(SUBTRACT, value, mean.read(), result))
  return result
}

function checkDims(input: string, declared: DeclaredTensor, { dims }: Tensor, names: NamedSizes): void {
  if (declared.dims === undefined) return
  if (declared.dims.length !== dims.length)
    fail('rank-mismatch', `input "${input}" has rank ${declared.dims.length}; dims [${dims.join(', ')}] are given`)
  for (let i = 0; i < dims.length; i++) {
    const dim = declared.dims[i]
    if (dim === null) continue
    if (typeof dim === 'string') {
      const seen = names.get(dim)
      if (seen === undefined) names.set(dim, { size: dims[i], input })
      else if (seen.size !== dims[i])
        fail(
          'shape-mismatch',
          `dim ${i} of input "${input}" is "${dim}", which is ${seen.size} in input "${seen.input}"; ` +
            `${dims[i]} is given`
        )
    } else if (typeof dim === 'number' ? dims[i] !== dim : dims[i] < dim.min || dims[i] > dim.max) {
      const { min, max } = typeof dim === 'number' ? { min: dim, max: dim } : dim
      fail(
        'shape-mismatch',
        `dim ${i} of input "${input}" is ${min === max ? min : `${min}..${max === Infinity ? '' : max}`}; ` +
          `dims [${dims.join(', ')}] are given`
      )
    }
  }
}

/** A graph's value as the caller gets it. */
export function presentOutput(model: Model, value: Value): Value {
  if (!isTensor(value)) return value
  const type = portType(model, 'output', value.type)
  return type === value.type ? value : convert(value, type)
}
