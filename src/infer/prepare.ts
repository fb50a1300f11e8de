import type { Call } from '../bind/call.ts'
import { byOperand } from '../bind/operands.ts'
import {
  type FactOperands,
  isBuiltIn,
  type Kernel,
  type Op,
  type Pack,
  type Parameters,
  type Preparation,
  type Selection,
  type SelectKernel,
  type ValueOperands
} from '../op-kit/define.ts'
import { requireFacts } from '../op-kit/problem.ts'
import { type Fact, factOf, type TensorFact, tensorFact, withoutValue } from '../shapes/fact.ts'
import type { Storage } from '../tensor/dtype.ts'
import { areSameDims, areSameElements, isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { type Earlier, MAX_ELEMENTS, type Seen } from './earlier.ts'
import type { Like, Likes } from './likes.ts'
import { type ParameterOptions, parametersOf } from './parameters.ts'
import { checkTypes } from './types.ts'

/** A preparation with the facts that it was made of. */
export interface PreparedFacts extends Preparation {
  /** The inputs by operand. */
  readonly operands: FactOperands
}

/**
 * The one way from facts of inputs to facts of outputs: type checks, parameters, shape rule.
 * @param isRunning the kernel runs next: shape rules of `dynamic` operators are not asked, and there are no outputs
 * @throws NodewiseError what type checks, parameter sources and the operator's shape rule throw
 */
export function prepareCall(
  call: Call,
  inputs: readonly (Fact | undefined)[],
  options: ParameterOptions = {},
  isRunning = false
): PreparedFacts {
  checkTypes(call, inputs)
  const parameters = parametersOf(call, inputs, options)
  const operands = byOperand(call, inputs)
  const outputs = isRunning && call.op.dynamic ? [] : call.op.shape(operands, parameters, call)
  if (!isBuiltIn(call.op)) requireFacts(call.op, outputs)
  return { operands, parameters, outputs }
}

/** What surrounds the preparation of a call that runs. */
export interface RunSurroundings extends ParameterOptions {
  /** Picks accelerated kernels; without it operators run their own. */
  readonly select?: SelectKernel | undefined
}

/** A call that is ready to run. */
export interface RunPreparation extends Preparation {
  readonly selection: Selection | undefined
  /** That of the selection; undefined: the operator's own. */
  readonly kernel: Kernel | undefined
  /** Packs constants for the kernel that runs. */
  readonly pack: Pack | undefined
}

/** What a call keeps from run to run. */
export interface CallMemo {
  kept?: KeptPreparation | undefined
  /** What it kept before. */
  readonly earlier?: Earlier<KeptPreparation> | undefined
  /** The calls of its plan, and, once it has been prepared again, what those like it keep together. */
  readonly likes?: Likes<KeptPreparation> | undefined
  like?: Like<KeptPreparation> | undefined
}

/** Input positions whose elements decided what is kept. */
export const decisiveInputs = ({ kept }: CallMemo): readonly number[] =>
  kept?.seen.flatMap((seen, i) => (seen?.elements === undefined ? [] : [i])) ?? []

/**
 * What a call prepared for its last inputs. It depends on the types and dims of the inputs and on the elements of those
 * whose value was looked at; as long as these stay the same, it serves again.
 */
export interface KeptPreparation extends RunPreparation {
  /** That of the selection. */
  readonly holds: Selection['holds'] | undefined
  readonly seen: readonly (Seen | undefined)[]
}

const NOTHING_SEEN: KeptPreparation['seen'] = []

/**
 * All in one form, and none by a spread, which gives each object a form of its own: every step reads them, and so does
 * inference, so that in a process of many models reading one would take most of a microsecond longer.
 */
function preparationOf(
  op: Op | undefined,
  parameters: Parameters,
  outputs: readonly Fact[],
  selection: Selection | undefined,
  seen: KeptPreparation['seen']
): KeptPreparation {
  const kernel = selection?.kernel
  const pack = kernel ? selection?.pack : op?.pack
  return { parameters, outputs, selection, kernel, pack, holds: selection?.holds, seen }
}

/** A preparation for the operator's own kernel, where nothing is packed. */
export const withoutSelection = ({ parameters, outputs }: Preparation): RunPreparation =>
  preparationOf(undefined, parameters, outputs, undefined, NOTHING_SEEN)

/**
 * Prepares a call to run: reuses what `memo` keeps if that still holds, and keeps a new preparation if it can be
 * compared quickly.
 * @param operands the same values as `inputs`, by operand
 * @throws NodewiseError what {@link prepareCall} throws
 */
export function prepareRun(
  call: Call,
  inputs: readonly (Value | undefined)[],
  operands: ValueOperands,
  surroundings: RunSurroundings,
  memo?: CallMemo
): RunPreparation {
  const kept = memo && keptFor(memo, inputs)
  if (memo === undefined || kept === undefined) return prepareAnew(call, inputs, operands, surroundings, memo)
  if (kept.holds === undefined || kept.holds(operands)) return kept
  const { parameters, outputs, seen } = kept
  const selection = surroundings.select?.(call.op, operands, kept)
  return (memo.kept = preparationOf(call.op, parameters, outputs, selection, seen))
}

/** A preparation that is kept and holds for these inputs; it becomes the one that is tried first. */
function keptFor(memo: CallMemo, inputs: readonly (Value | undefined)[]): KeptPreparation | undefined {
  const { kept, earlier } = memo
  if (kept === undefined || stillHolds(kept.seen, inputs)) return kept
  const found = earlier?.find(inputs, kept)
  if (found === undefined || !stillHolds(found.seen, inputs)) return undefined
  return (memo.kept = found)
}

/** Keeps a preparation beside those before it. */
function keep(memo: CallMemo, preparation: KeptPreparation): void {
  if (memo.kept) memo.earlier?.add(preparation, memo.kept)
  memo.kept = preparation
}

function prepareAnew(
  call: Call,
  inputs: readonly (Value | undefined)[],
  operands: ValueOperands,
  surroundings: RunSurroundings,
  memo: CallMemo | undefined
): RunPreparation {
  if (memo === undefined || call.bodies.size > 0 || !inputs.every(isTensorOrLeftOut)) {
    const facts = inputs.map(value => value && factOf(value))
    const { parameters, outputs } = prepareCall(call, facts, surroundings, true)
    const selection = surroundings.select?.(call.op, operands, { parameters, outputs })
    return preparationOf(call.op, parameters, outputs, selection, NOTHING_SEEN)
  }
  const like = memo.kept && (memo.like ??= memo.likes?.of(call))
  const alike = like?.kept
  if (alike && stillHolds(alike.seen, inputs)) {
    const { parameters, outputs, seen } = alike
    // Selections keep what they made of the operands of their call.
    const selection = surroundings.select?.(call.op, operands, alike)
    const result = preparationOf(call.op, parameters, outputs, selection, seen)
    keep(memo, result)
    return result
  }
  const facts = inputs.map(watched)
  const prepared = prepareCall(call, facts, surroundings, true)
  const { parameters } = prepared
  const outputs = prepared.outputs.map(toKeep)
  const selection = surroundings.select?.(call.op, operands, { parameters, outputs })
  const seen = facts.map(seenOf)
  const isQuick = seen.every(isShort)
  const result = preparationOf(call.op, parameters, outputs, selection, seen)
  if (isQuick) keep(memo, result)
  if (isQuick && like) like.kept = result
  return result
}

const watched = (value: Tensor | undefined): WatchedFact | undefined => value && new WatchedFact(value)
const seenOf = (fact: WatchedFact | undefined): Seen | undefined => fact?.seen()
const isShort = (seen: Seen | undefined): boolean => (seen?.elements?.length ?? 0) <= MAX_ELEMENTS

const isTensorOrLeftOut = (value: Value | undefined): value is Tensor | undefined =>
  value === undefined || isTensor(value)

/** Without the tensor, which would not be given up; with dims of its own, which no tensor that gets them may change. */
const toKeep = (fact: Fact): Fact =>
  fact.kind === 'tensor' ? tensorFact(fact.type, fact.shape && Object.freeze(fact.shape.slice())) : withoutValue(fact)

/** The fact of a tensor that notes whether its value is looked at. */
class WatchedFact implements TensorFact {
  readonly kind = 'tensor'
  readonly type: Tensor['type']
  readonly shape: readonly number[]
  private readonly tensor: Tensor
  private wasRead = false

  constructor(tensor: Tensor) {
    this.type = tensor.type
    this.shape = tensor.dims
    this.tensor = tensor
  }

  get value(): Tensor {
    this.wasRead = true
    return this.tensor
  }

  seen(): Seen {
    const { type, dims } = this.tensor
    const elements = this.wasRead ? elementsToKeep(this.tensor.data) : undefined
    return { type, dims: Object.isFrozen(dims) ? dims : dims.slice(), elements }
  }
}

const elementsToKeep = (data: Storage): Storage => (data.length > MAX_ELEMENTS ? data : data.slice())

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
