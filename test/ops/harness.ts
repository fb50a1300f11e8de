import { inspect } from 'node:util'
import { bindNode } from '../../src/bind/bind.ts'
import type { Call } from '../../src/bind/call.ts'
import { createRegistry } from '../../src/bind/registry.ts'
import { onnxSchema } from '../../src/bind/schema.ts'
import { NodewiseError } from '../../src/errors.ts'
import type { Attribute, Dialect, Node } from '../../src/graph/graph.ts'
import { inferCall } from '../../src/infer/infer.ts'
import { runCall } from '../../src/infer/run.ts'
import { ALL_OPS } from '../../src/ops/all.ts'
import { type Dim, namedDim, printDim, unknownDim } from '../../src/shapes/dim.ts'
import { type Fact, factOf, type TensorFact, tensorFact } from '../../src/shapes/fact.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { allocate, Tensor, type Value } from '../../src/tensor/tensor.ts'

const registry = createRegistry(ALL_OPS)

type PlainAttribute = number | bigint | boolean | string | readonly number[] | readonly string[] | Tensor

/** A node as a file would hold it: `['onnx', 'Gather', 13]` or `['openvino', 'Gather', 8]` (opset numbers). */
export type Kind = readonly [Dialect, string, number] | readonly [Dialect, string, number, string]

export interface CallOptions {
  readonly attributes?: Readonly<Record<string, PlainAttribute>> | undefined
  /** Number of outputs that the node lists. */
  readonly outputs?: number
  /** Positions of outputs that nobody reads. */
  readonly unwanted?: readonly number[]
  /** Position of an input in whose memory the output is written, where type and dims are the same: `inPlace`. */
  readonly over?: number | undefined
}

export function callOf(
  [dialect, type, opset, domain]: Kind,
  inputs: readonly unknown[],
  { attributes = {}, outputs = 1 }: CallOptions
): Call {
  const node: Node = {
    dialect,
    domain: domain ?? (dialect === 'onnx' ? 'ai.onnx' : 'openvino'),
    type,
    version: dialect === 'onnx' ? `${opset}` : `opset${opset}`,
    overload: '',
    name: 'node',
    index: 0,
    inputs: inputs.map((input, i) => (input === undefined ? undefined : `in${i}`)),
    outputs: Array.from({ length: outputs }, (_, i) => `out${i}`),
    attributes: new Map(
      Object.entries(attributes).map(([name, value]) => [
        name,
        attributeOf(dialect, type, opset, domain ?? 'ai.onnx', name, value)
      ])
    ),
    captures: [],
    place: {}
  }
  return bindNode(node, registry)
}

function attributeOf(
  dialect: Dialect,
  type: string,
  opset: number,
  domain: string,
  name: string,
  value: PlainAttribute
): Attribute {
  if (dialect === 'openvino')
    return { kind: 'text', value: Array.isArray(value) ? value.join(',') : String(value), place: {} }
  if (value instanceof Tensor)
    return {
      kind: 'tensor',
      value: { type: value.type, dims: value.dims, byteLength: 0, place: {}, read: () => value }
    }
  const kind = onnxSchema(domain, type, opset)?.attributes.get(name)?.kind
  const list = value as readonly number[]
  if (kind === 'floats') return { kind, value: list }
  if (kind === 'float') return { kind, value: Number(value) }
  if (kind === 'ints') return { kind, value: list.map(BigInt) }
  if (kind === 'strings') return { kind, value: value as readonly string[] }
  return typeof value === 'string' ? { kind: 'string', value } : { kind: 'int', value: BigInt(value as number) }
}

const noBody = (): never => {
  throw new Error('no bodies here')
}

/** Memory as it may be where nobody asked for zeros. */
export function spoiled(type: DType, dims: readonly number[], _index: number, isZeroed: boolean): Tensor {
  const tensor = allocate(type, dims)
  const { data } = tensor
  if (!isZeroed && !Array.isArray(data)) new Uint8Array(data.buffer, data.byteOffset, data.byteLength).fill(0xa5)
  return tensor
}

/** The input that is written over, as {@link CallOptions.over} says, else what `allocated` gives. */
export const overwriting =
  (inputs: readonly (Value | undefined)[], over: number | undefined, allocated: typeof spoiled): typeof spoiled =>
  (type, dims, index, isZeroed) => {
    const input = over === undefined || isZeroed ? undefined : (inputs[over] as Tensor)
    return input?.type === type && input.dims.join() === dims.join() ? input : allocated(type, dims, index, isZeroed)
  }

/** Runs one node; the outputs in order. Operators with bodies are tested on models. */
export const runOp = (kind: Kind, inputs: readonly (Value | undefined)[], options: CallOptions = {}): Value[] =>
  runCallOf(callOf(kind, inputs, options), inputs, options)

/** Runs a call by the operator's own kernel; the outputs in order. */
export function runCallOf(call: Call, inputs: readonly (Value | undefined)[], options: CallOptions = {}): Value[] {
  const steps = stepsOf(call, inputs, options)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value as Value[]
}

/** Times that one node yields: the work that its kernel counts, in units of 5 ms. */
export const yieldsOf = (kind: Kind, inputs: readonly (Value | undefined)[], options: CallOptions = {}): number =>
  [...stepsOf(callOf(kind, inputs, options), inputs, options)].length

const stepsOf = (
  call: Call,
  inputs: readonly (Value | undefined)[],
  options: CallOptions
): ReturnType<typeof runCall> =>
  runCall(call, inputs, {
    allocate: overwriting(inputs, options.over, spoiled),
    wanted: index => options.unwanted?.includes(index) !== true,
    body: noBody,
    state: { read: () => undefined, write: () => undefined },
    random: () => () => 0.5,
    threads: 1
  })

/** First output of {@link runOp}, which is a tensor. */
export const runTensor = (kind: Kind, inputs: readonly (Value | undefined)[], options: CallOptions = {}): Tensor =>
  runOp(kind, inputs, options)[0] as Tensor

/** Facts of the outputs; `validate` also checks values. */
export const inferOp = (
  kind: Kind,
  inputs: readonly (Fact | Tensor | undefined)[],
  options: CallOptions = {},
  validate = true
): readonly Fact[] =>
  inferCall(
    callOf(kind, inputs, options),
    inputs.map(input => (input instanceof Tensor ? factOf(input) : input)),
    noBody,
    { validate }
  )

/** A fact from dims as text: `fact('float32', [2, 'n', '1..10', '?'])`; no dims: rank unknown. */
export function fact(type: DType | undefined, dims?: readonly (number | string)[]): TensorFact {
  return tensorFact(type, dims?.map(dimOf))
}

function dimOf(text: number | string): Dim {
  if (typeof text === 'number') return text
  if (text === '?') return unknownDim()
  const interval = /^(\d+)\.\.(\d*)$/.exec(text)
  return interval
    ? unknownDim(Number(interval[1]), interval[2] === '' ? Infinity : Number(interval[2]))
    : namedDim(text)
}

/** Dims as text, for comparing. */
export const dimsOf = (of: Fact): (number | string)[] | undefined =>
  of.kind === 'tensor' ? of.shape?.map(dim => (typeof dim === 'number' ? dim : printDim(dim))) : undefined

/** The error that `run` throws; fails when it throws none, and shows what it returned. */
export function errorOf(run: () => unknown): NodewiseError {
  let returned: unknown
  try {
    returned = run()
  } catch (error) {
    if (error instanceof NodewiseError) return error
    throw error
  }
  throw new Error(`a NodewiseError was expected, but the call returned ${inspect(returned, { maxArrayLength: 10 })}`)
}
