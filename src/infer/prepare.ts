import { byOperand, type Call } from '../bind/call.ts'
import { type Fact, type TensorFact, tensorFact, withoutValue } from '../shapes/fact.ts'
import type { Storage } from '../tensor/dtype.ts'
import { areSameDims, isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { parametersOf } from './parameters.ts'
import { checkTypes } from './types.ts'

/**
 * What a call works out before its kernel runs. It depends on the types and dims of the inputs and on the elements of
 * those
 * whose value was looked at; as long as they stay the same, so does this.
 */
export interface Prepared {
  readonly parameters: Readonly<Record<string, unknown>>
  readonly expected: readonly Fact[]
  readonly seen: readonly (Seen | undefined)[]
}

/** What of an input the preparation depended on. */
interface Seen {
  readonly type: string
  readonly dims: readonly number[]
  /** Set where its value was looked at. */
  readonly elements?: Storage
}

/** Larger values are not compared: working them out again costs as much. */
const MAX_ELEMENTS = 64

/**
 * The preparation of a call for some inputs: the last one if it still holds, else a new one.
 * @returns undefined where it depends on something that cannot be compared quickly
 */
export function preparedFor(
  last: Prepared | undefined,
  call: Call,
  inputs: readonly (Value | undefined)[],
  overrides: Readonly<Record<string, unknown>> | undefined
): Prepared | undefined {
  if (last !== undefined && stillHolds(last.seen, inputs)) return last
  if (!inputs.every(value => value === undefined || isTensor(value))) return undefined
  const facts = (inputs as readonly (Tensor | undefined)[]).map(value => value && watched(value))
  checkTypes(call, facts)
  const parameters = parametersOf(call, facts, overrides)
  const expected = call.op.dynamic ? [] : call.op.shape(byOperand(call, facts), parameters, call)
  const seen = facts.map(fact => fact && seenOf(fact))
  if (seen.some(item => item?.elements !== undefined && item.elements.length > MAX_ELEMENTS)) return undefined
  return { parameters, expected: expected.map(toKeep), seen }
}

/** Without the tensor, which would not be given up; with dims of its own, which no tensor that gets them may change. */
const toKeep = (fact: Fact): Fact =>
  fact.kind === 'tensor' ? tensorFact(fact.type, fact.shape && Object.freeze(fact.shape.slice())) : withoutValue(fact)

interface WatchedFact extends TensorFact {
  readonly tensor: Tensor
  wasRead: boolean
}

/** The fact of a tensor that notes whether its value is looked at. */
function watched(tensor: Tensor): WatchedFact {
  return {
    kind: 'tensor',
    type: tensor.type,
    shape: tensor.dims,
    tensor,
    wasRead: false,
    get value() {
      this.wasRead = true
      return tensor
    }
  }
}

const seenOf = ({ tensor: { type, dims, data }, wasRead }: WatchedFact): Seen => ({
  type,
  dims: Object.isFrozen(dims) ? dims : dims.slice(),
  ...(wasRead && { elements: data.length > MAX_ELEMENTS ? data : data.slice() })
})

function stillHolds(seen: readonly (Seen | undefined)[], inputs: readonly (Value | undefined)[]): boolean {
  if (seen.length !== inputs.length) return false
  for (let i = 0; i < seen.length; i++) {
    const before = seen[i]
    const value = inputs[i]
    if (before === undefined || value === undefined) {
      if (before !== value) return false
      continue
    }
    if (value.type !== before.type || !isTensor(value) || !areSameDims(value.dims, before.dims)) return false
    if (before.elements !== undefined && !areSameElements(value.data, before.elements)) return false
  }
  return true
}

function areSameElements(a: Storage, b: Storage): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}
