import { expect, test } from 'vitest'
import { fail, NodewiseError } from '../../src/errors.ts'
import { runCall } from '../../src/infer/run.ts'
import { type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { allocate, elementCount, Tensor, type Value } from '../../src/tensor/tensor.ts'
import { callOf, type CallOptions, type Kind } from './harness.ts'

/**
 * A call that no honest model makes: operator, version (before `:` a domain of ONNX, `ov` for OpenVINO), inputs,
 * attributes, and what must come of it: an error code, or the outputs as {@link shown} writes them.
 */
export type Hostile = readonly [
  type: string,
  version: number,
  inputs: readonly (Value | undefined)[],
  attributes: CallOptions['attributes'],
  expected: string
]

/**
 * Calls of one operator on the same inputs.
 * @param cases attributes, and what must come of each
 * @param alike attributes that all have beside their own
 */
export const withAttributes = (
  type: string,
  version: number,
  inputs: Hostile[2],
  cases: readonly (readonly [attributes: Hostile[3], expected: string])[],
  alike: Hostile[3] = {}
): Hostile[] => cases.map(([own, expected]) => [type, version, inputs, { ...alike, ...own }, expected])

/**
 * Calls of one operator with the same attributes.
 * @param cases inputs, and what must come of each
 */
export const withInputs = (
  type: string,
  version: number,
  attributes: Hostile[3],
  cases: readonly (readonly [inputs: Hostile[2], expected: string])[]
): Hostile[] => cases.map(([inputs, expected]) => [type, version, inputs, attributes, expected])

const big = (type: DType): boolean => DTYPES[type].bits === 64 && DTYPES[type].kind !== 'float'

export const t = (type: DType, dims: readonly number[], ...data: (number | bigint | string)[]): Tensor =>
  data.length === 0
    ? allocate(type, dims)
    : new Tensor(
        type,
        data.map(item => (big(type) ? BigInt(item) : item)),
        dims
      )
export const i32 = (...data: number[]): Tensor => t('int32', [data.length], ...data)
export const i64 = (...data: (number | bigint)[]): Tensor => t('int64', [data.length], ...data)
export const f32 = (...data: number[]): Tensor => t('float32', [data.length], ...data)
export const text = (...data: string[]): Tensor => t('string', [data.length], ...data)
export const one = (value: number | bigint, type: DType = 'int64'): Tensor => t(type, [], value)
/** 1, 2, 3 … */
export const up = (...dims: number[]): Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: elementCount(dims) }, (_, i) => i + 1),
    dims
  )

/** Outputs of more elements are cut off. */
const SHOWN = 6

function shownValue(value: Value | undefined): string {
  if (value === undefined) return '-'
  if (value.type === 'sequence') return `sequence of ${value.values.length}`
  if (value.type === 'map') return `map ${[...value.entries].join(' ')}`
  if (value.type === 'optional') return value.value === undefined ? 'absent' : shownValue(value.value)
  const elements = Array.from(
    (value.data as ArrayLike<unknown> & { slice(from: number, to: number): ArrayLike<unknown> }).slice(0, SHOWN),
    String
  )
  return [`${value.type}[${value.dims.join(',')}]`, ...elements, ...(value.data.length > SHOWN ? ['…'] : [])].join(' ')
}

const shown = (values: readonly (Value | undefined)[]): string => values.map(shownValue).join(' | ')

/** What a run may hold, in bytes. */
const LIMIT = 2 ** 28
/** Times that a call may yield, which it does after 5 ms of work at most. */
const PATIENCE = 2000

/** What comes of a call: its outputs, or the code of its error. Anything that is thrown besides is thrown on. */
export function outcomeOf([type, version, inputs, attributes = {}, expected]: Hostile): string {
  const parts = type.split(':')
  const name = parts[parts.length - 1]
  const kind: Kind =
    parts[0] === 'ov'
      ? ['openvino', name, version]
      : parts.length > 1
        ? ['onnx', name, version, parts[0]]
        : ['onnx', name, version]
  const outputs = Math.max(1, expected.split(' | ').length)
  try {
    const steps = runCall(callOf(kind, inputs, { attributes, outputs }), inputs, {
      allocate: (wanted, dims) =>
        8 * elementCount(dims) > LIMIT ? fail('limit-exceeded', 'over the limit') : allocate(wanted, dims),
      wanted: () => true,
      body: () => fail('internal', 'no bodies here'),
      state: { read: () => undefined, write: () => undefined },
      random: () => () => 0.5,
      threads: 1
    })
    for (let yields = 0; yields < PATIENCE; yields++) {
      const step = steps.next()
      if (step.done) return shown(step.value)
    }
    return 'takes too long'
  } catch (error) {
    if (error instanceof NodewiseError) return error.code
    throw error
  }
}

/**
 * Holds each call against what must come of it; the calls of an operator are a test.
 * @param given what they give, in the names of the tests
 */
export const holdCalls = (calls: readonly Hostile[], given = 'what the specification says or an error'): void =>
  test.each([...new Set(calls.map(([type]) => type))])(`hostile calls of %s give ${given}`, type => {
    for (const call of calls.filter(([own]) => own === type))
      expect(outcomeOf(call), JSON.stringify(call[3])).toBe(call[4])
  })
