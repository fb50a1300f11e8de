import { bind } from '../../src/bind/bind.ts'
import { createRegistry } from '../../src/bind/registry.ts'
import { NodewiseError } from '../../src/errors.ts'
import { InferenceSession, type RunOptions, type SessionOptions } from '../../src/index.ts'
import { propagate } from '../../src/infer/propagate.ts'
import { ALL_OPS } from '../../src/ops/all.ts'
import type { Feeds } from '../../src/runtime/feeds.ts'
import { printDim } from '../../src/shapes/dim.ts'
import type { Fact } from '../../src/shapes/fact.ts'
import { mapType } from '../../src/tensor/map.ts'
import { isTensor, Tensor, type Value } from '../../src/tensor/tensor.ts'
import { type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { load } from '../openvino/ir.ts'

type PortType = Parameters<typeof port>[1]
type Dims = Parameters<typeof port>[2]

/** Ports of sequences and optionals of tensors, and an optional sequence. */
export const sequencePort = (name: string, type: PortType, dims?: Dims): object => ({
  name,
  type: { sequenceType: { elemType: typeOf(type, dims) } }
})
export const optionalPort = (name: string, type: PortType, dims?: Dims): object => ({
  name,
  type: { optionalType: { elemType: typeOf(type, dims) } }
})
const typeOf = (type: PortType, dims?: Dims): object => (port('', type, dims) as { type: object }).type

export const bools = (name: string, dims: readonly number[], values: readonly number[]): object => ({
  name,
  dims,
  dataType: 9,
  int32Data: values
})

/** `value = Identity(from)`, which gives a value of its own name. */
export const alias = (from: string, to: string): object => node('Identity', [from], [to])

export const float = (...values: number[]): Tensor => new Tensor('float32', values)
export const scalar = (value: number): Tensor => new Tensor('int64', [BigInt(value)], [])
export const flag = (value: boolean): Tensor => new Tensor('bool', [value], [])

/** Dims and elements: `[[2], 1, 2]`; elements of a sequence one after the other; an optional as its element or null. */
export function plain(value: Value | undefined): unknown {
  if (value === undefined) return null
  if (isTensor(value))
    return [
      [...value.dims],
      ...Array.from(value.data as ArrayLike<unknown>, item => (typeof item === 'bigint' ? Number(item) : item))
    ]
  if (value.type === 'map') return Object.fromEntries(value.entries)
  return value.type === 'sequence' ? value.values.map(plain) : plain(value.value)
}

export interface RunSettings extends SessionOptions {
  readonly run?: RunOptions
}

/** Runs a model of ONNX; its outputs as {@link plain} shows them. */
export async function runOnnx(
  parts: ModelParts,
  feeds: Feeds = {},
  { run, ...options }: RunSettings = {}
): Promise<Record<string, unknown>> {
  return shown(await new InferenceSession(await onnxModel(parts), options).run(feeds, undefined, run))
}

/** Runs IR text, with consecutive feeds in one session. */
export async function runIr(
  xml: string,
  feeds: readonly Feeds[],
  bin?: Uint8Array
): Promise<Record<string, unknown>[]> {
  const session = new InferenceSession(load(xml, bin))
  const results: Record<string, unknown>[] = []
  for (const feed of feeds) results.push(shown(await session.run(feed)))
  return results
}

const shown = (values: Record<string, Value>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plain(value)]))

/** Dims of the outputs as text, before any run: `[2, n]`; a sequence as `3 of [2]`; unknown rank as `[...]`. */
export async function inferOnnx(parts: ModelParts): Promise<Record<string, string>> {
  const model = await onnxModel(parts)
  return described(model.graph.outputs, propagate(bind(model, createRegistry(ALL_OPS))).facts)
}

export function inferIr(xml: string, bin?: Uint8Array): Record<string, string> {
  const model = load(xml, bin)
  return described(model.graph.outputs, propagate(bind(model, createRegistry(ALL_OPS))).facts)
}

const described = (
  outputs: readonly { name: string; value: string }[],
  facts: ReadonlyMap<string, Fact>
): Record<string, string> => Object.fromEntries(outputs.map(({ name, value }) => [name, textOf(facts.get(value))]))

function textOf(fact: Fact | undefined): string {
  if (fact === undefined) return 'nothing'
  if (fact.kind === 'tensor') return fact.shape ? `[${fact.shape.map(printDim).join(', ')}]` : '[...]'
  if (fact.kind === 'map') return mapType(fact.keyType, fact.valueType)
  if (fact.kind === 'optional') return `optional ${textOf(fact.element)}`
  return `${fact.length === undefined ? '?' : printDim(fact.length)} of ${textOf(fact.element)}`
}

/** The error with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<NodewiseError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  if (error instanceof NodewiseError) return error
  throw error instanceof Error ? error : new Error('nothing was thrown')
}
