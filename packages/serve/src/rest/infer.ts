import { noFeeds, type Outputs } from '../models/request.ts'
import { Refusal } from '../refusal.ts'
import { bytesOfTensor, tensorFromBytes } from '../tensors/binary.ts'
import { classesOf } from '../tensors/classification.ts'
import { datatypeOf, type PlainTensor, shapeOf, typeNamed } from '../tensors/datatypes.ts'
import { dataText, isLong, parseBody, tensorFromData } from '../tensors/json.ts'

/** An output that is asked for. */
interface Asked {
  readonly name: string
  readonly binary: boolean
  /** Classes of the classification extension; 0: the tensor itself. */
  readonly classes: number
}

/** A request of `POST …/infer`. */
export interface RestRequest {
  readonly id?: string
  readonly feeds: Readonly<Record<string, PlainTensor>>
  /** Undefined: all outputs, as `binary` says. */
  readonly asked?: readonly Asked[]
  readonly binary: boolean
  /** Microseconds that the request may take. */
  readonly timeout?: number
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const bad = (why: string): never => {
  throw new Refusal('bad-request', why)
}

/** Whether a member is left out; `null` says the same, as in the JSON form of gRPC's messages. */
const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

const fieldsOf = (value: unknown, what: string): Fields =>
  isAbsent(value) ? {} : isFields(value) ? value : bad(`${what} is no object`)

const listOf = (value: unknown, what: string): readonly Fields[] =>
  Array.isArray(value) && value.every(isFields) ? value : bad(`${what} is no array of objects`)

/** Tensors of a request; each has a name, a datatype and a shape. */
const MAX_TENSORS = 4096

/**
 * Reads a request: JSON, and after its first `headerLength` bytes the elements of the inputs that have a
 * `binary_data_size`, in the order of these inputs.
 * @throws Refusal `bad-request`; `body-too-large` where the JSON is longer than `maxJson`
 */
export function readRequest(body: Buffer, headerLength: string | undefined, maxJson: number): RestRequest {
  const length = headerLength === undefined ? body.length : Number(headerLength)
  if (headerLength !== undefined && (!/^\d{1,15}$/.test(headerLength) || length > body.length))
    bad(`Inference-Header-Content-Length ${headerLength} is no length within the body of ${body.length} bytes`)
  if (length > maxJson)
    throw new Refusal('body-too-large', `the JSON of a request takes up to ${maxJson} bytes; larger tensors are binary`)
  const document = parseBody(body.toString('utf8', 0, length))
  if (!isFields(document)) return bad('a request is a JSON object')
  const { id, inputs, outputs } = document
  if (!isAbsent(id) && (typeof id !== 'string' || isLong(id))) bad('"id" is no string')
  const parameters = fieldsOf(document.parameters, '"parameters"')
  const binary = parameters.binary_data_output === true
  const asked = isAbsent(outputs) ? undefined : listOf(outputs, '"outputs"').map(one => askedFrom(one, binary))
  const { timeout } = parameters
  return {
    ...(typeof id === 'string' && { id }),
    feeds: readInputs(listOf(inputs, '"inputs"'), body.subarray(length)),
    ...(asked && asked.length > 0 && { asked }),
    binary,
    ...(typeof timeout === 'number' && timeout > 0 && { timeout })
  }
}

function askedFrom({ name, parameters }: Fields, binary: boolean): Asked {
  if (typeof name !== 'string') return bad('an output has no name')
  const { binary_data, classification = 0, shared_memory_region } = fieldsOf(parameters, `"parameters" of "${name}"`)
  if (shared_memory_region !== undefined) noSharedMemory()
  if (typeof classification !== 'number' || !Number.isSafeInteger(classification) || classification < 0)
    return bad(`"classification" of "${name}" is no number of classes`)
  return { name, binary: typeof binary_data === 'boolean' ? binary_data : binary, classes: classification }
}

/** @throws Refusal `not-supported` */
export const noSharedMemory = (): never => {
  throw new Refusal('not-supported', 'shared memory of other processes is not read')
}

function readInputs(inputs: readonly Fields[], bytes: Buffer): Record<string, PlainTensor> {
  if (inputs.length > MAX_TENSORS) bad(`a request has up to ${MAX_TENSORS} inputs`)
  const feeds = noFeeds()
  let at = 0
  for (const { name, datatype, shape, data, parameters } of inputs) {
    if (typeof name !== 'string') return bad('an input has no name')
    if (name in feeds) bad(`input "${name}" is given twice`)
    const type = typeNamed(datatype, name)
    const dims = shapeOf(shape, name)
    const { binary_data_size: size, shared_memory_region } = fieldsOf(parameters, `"parameters" of "${name}"`)
    if (shared_memory_region !== undefined) noSharedMemory()
    if (size === undefined) {
      feeds[name] = tensorFromData(name, type, dims, data)
      continue
    }
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0 || size > bytes.length - at)
      return bad(`input "${name}": binary_data_size ${String(size)} is more than the body holds`)
    feeds[name] = tensorFromBytes(name, type, dims, bytes.subarray(at, at + size))
    at += size
  }
  if (at < bytes.length) bad(`${bytes.length - at} bytes follow the last input`)
  return feeds
}

/** An answer's body: JSON alone, or with binary tensors behind it. */
export interface RestAnswer {
  readonly body: Buffer | string
  /** Length of the JSON, where something follows it. */
  readonly headerLength?: number
}

/** Writes the answer to a request. */
export function writeAnswer(
  { id, asked, binary }: RestRequest,
  model: { readonly name: string; readonly version: string },
  outputs: Outputs
): RestAnswer {
  const wanted = asked ?? Object.keys(outputs).map((name): Asked => ({ name, binary, classes: 0 }))
  const parts: Buffer[] = []
  const texts = wanted.map(({ name, binary: isBinary, classes }) => {
    const tensor = classes > 0 ? classesOf(name, outputs[name], classes) : outputs[name]
    const datatype = datatypeOf(tensor.type)
    const head = `{"name":${JSON.stringify(name)},"datatype":"${datatype}","shape":[${tensor.dims.join(',')}]`
    if (!isBinary) return `${head},"data":${dataText(tensor)}}`
    const bytes = bytesOfTensor(tensor)
    parts.push(bytes)
    return `${head},"parameters":{"binary_data_size":${bytes.length}}}`
  })
  const names = `"model_name":${JSON.stringify(model.name)},"model_version":"${model.version}"`
  const text = `{${id === undefined ? '' : `"id":${JSON.stringify(id)},`}${names},"outputs":[${texts.join(',')}]}`
  if (parts.length === 0) return { body: text }
  const header = Buffer.from(text)
  return { body: Buffer.concat([header, ...parts]), headerLength: header.length }
}
