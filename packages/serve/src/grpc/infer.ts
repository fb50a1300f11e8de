import { noFeeds, type Outputs } from '../models/request.ts'
import { Refusal } from '../refusal.ts'
import { noSharedMemory } from '../rest/infer.ts'
import { bytesOfTensor, tensorFromBytes, textOf } from '../tensors/binary.ts'
import { classesOf } from '../tensors/classification.ts'
import { arrayOf, datatypeOf, type PlainTensor, type Shape, shapeOf, typeNamed } from '../tensors/datatypes.ts'
import { bigintOf, type Contents, type GrpcRequest, numberOf, type Wide } from './schema.ts'

/** The list of typed contents that holds elements of a datatype. */
const LISTS: Readonly<Record<string, keyof Contents>> = {
  BOOL: 'bool_contents',
  INT8: 'int_contents',
  INT16: 'int_contents',
  INT32: 'int_contents',
  INT64: 'int64_contents',
  UINT8: 'uint_contents',
  UINT16: 'uint_contents',
  UINT32: 'uint_contents',
  UINT64: 'uint64_contents',
  FP32: 'fp32_contents',
  FP64: 'fp64_contents',
  BYTES: 'bytes_contents'
}

/**
 * The inputs of a request, from raw or from typed contents.
 * @throws Refusal `bad-request`
 */
export function feedsOf({ inputs, raw_input_contents: raw }: GrpcRequest): Record<string, PlainTensor> {
  if (raw.length > 0 && raw.length !== inputs.length)
    throw new Refusal('bad-request', `there are ${inputs.length} inputs and ${raw.length} raw contents`)
  const feeds = noFeeds()
  inputs.forEach(({ name, datatype, shape, contents, parameters }, i) => {
    if (name in feeds) throw new Refusal('bad-request', `input "${name}" is given twice`)
    if (Object.hasOwn(parameters, 'shared_memory_region')) noSharedMemory()
    const type = typeNamed(datatype, name)
    const size = shapeOf(shape.map(numberOf), name)
    const lists = contents ? Object.values(LISTS).filter(list => contents[list].length > 0) : []
    if (raw.length > 0 && lists.length > 0)
      throw new Refusal('bad-request', `input "${name}" has both raw and typed contents`)
    feeds[name] =
      raw.length > 0
        ? tensorFromBytes(name, type, size, raw[i])
        : typedTensor(name, { datatype, type }, size, contents ?? undefined)
  })
  return feeds
}

function typedTensor(
  name: string,
  { datatype, type }: { readonly datatype: string; readonly type: PlainTensor['type'] },
  { dims, count }: Shape,
  contents: Contents | undefined
): PlainTensor {
  const list = Object.hasOwn(LISTS, datatype) ? LISTS[datatype] : undefined
  if (list === undefined) throw new Refusal('bad-request', `input "${name}": ${datatype} has raw contents only`)
  const items = contents?.[list] ?? []
  if (items.length !== count)
    throw new Refusal('bad-request', `input "${name}": its shape holds ${count} elements, ${list} has ${items.length}`)
  const array = arrayOf(type)
  if (array === undefined) {
    const data = (items as readonly Uint8Array[]).map(bytes => textOf(name, bytes))
    return { type, dims, data }
  }
  const data = new array(count) as Float64Array
  for (let i = 0; i < count; i++) {
    const item = items[i]
    const value = typeof item === 'object' || type.endsWith('64') ? elementOf(type, item as Wide) : Number(item)
    data[i] = value as number
    if (data[i] !== value && type !== 'float32' && type !== 'float64')
      throw new Refusal('bad-request', `input "${name}": ${value} at ${i} is no ${datatype}`)
  }
  return { type, dims, data: data as PlainTensor['data'] }
}

const elementOf = (type: string, item: Wide): number | bigint =>
  type === 'int64' || type === 'uint64' ? bigintOf(item) : Number(item)

/** Microseconds that a request may take, by its parameter `timeout`. */
export function timeoutOf({ parameters }: GrpcRequest): number | undefined {
  if (!Object.hasOwn(parameters, 'timeout')) return undefined
  const { int64_param, uint64_param } = parameters.timeout
  const given = int64_param ?? uint64_param
  const value = given === undefined ? 0 : Number(bigintOf(given))
  return value > 0 ? value : undefined
}

/** Names of outputs that a request asks for, each once; undefined for all. */
export const fetchesOf = ({ outputs }: GrpcRequest): string[] | undefined =>
  outputs.length === 0 ? undefined : [...new Set(outputs.map(({ name }) => name))]

/** The answer to a request: all outputs as raw contents. */
export function answerTo(
  request: GrpcRequest,
  model: { readonly name: string; readonly version: string },
  outputs: Outputs
): object {
  const names = request.outputs.length === 0 ? Object.keys(outputs) : request.outputs.map(({ name }) => name)
  const tensors = names.map((name, i) => {
    const { parameters = {} } = request.outputs[i] ?? {}
    if (Object.hasOwn(parameters, 'shared_memory_region')) noSharedMemory()
    const classes = Object.hasOwn(parameters, 'classification') ? (parameters.classification.int64_param ?? 0) : 0
    const count = numberOf(classes)
    return count > 0 ? classesOf(name, outputs[name], count) : outputs[name]
  })
  return {
    model_name: model.name,
    model_version: model.version,
    id: request.id,
    outputs: tensors.map(({ type, dims }, i) => ({ name: names[i], datatype: datatypeOf(type), shape: dims })),
    raw_output_contents: tensors.map(bytesOfTensor)
  }
}
