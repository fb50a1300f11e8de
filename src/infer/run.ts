import type { BoundGraph, Call } from '../bind/call.ts'
import { byOperand } from '../bind/operands.ts'
import { fail } from '../errors.ts'
import type { Paced } from '../kernels/core/pace.ts'
import {
  type Body,
  isBuiltIn,
  type Kernel,
  type KernelContext,
  type Pack,
  type Packed,
  type Parameters,
  type State,
  type ValueOperands
} from '../op-kit/define.ts'
import { stepsOf } from '../op-kit/problem.ts'
import { isConcrete, printShape } from '../shapes/dim.ts'
import type { Fact, Movable } from '../shapes/fact.ts'
import { limitRank } from '../shapes/lists.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Grown } from '../tensor/room.ts'
import { allocate, isTensor, MAX_RANK, type Tensor, type Value } from '../tensor/tensor.ts'
import { type CallMemo, prepareRun, type RunPreparation, type RunSurroundings } from './prepare.ts'

/** What surrounds a call while it runs. */
export interface CallEnvironment extends RunSurroundings {
  /**
   * Memory for output `index`.
   * @param isZeroed whether it must be zero (strings: empty); else it holds anything
   */
  allocate(type: DType, dims: readonly number[], index: number, isZeroed: boolean): Tensor
  /** Memory for an output that `from` begins, as in {@link KernelContext.extend}. */
  extend?(index: number, from: Tensor, axis: number, rows: number, isApart: boolean): Grown | undefined
  /** Whether output `index` is read by anybody. */
  wanted(index: number): boolean
  body(bound: BoundGraph): Body
  readonly state: State
  random(seed?: number): () => number
  /** Threads that a kernel may use, the one that it runs in included. */
  readonly threads: number
  /** What {@link pack} has made of the call's constants. */
  readonly packed?: Packed | undefined
  /**
   * Packs the call's constants for the kernel that runs next; without it nothing is packed.
   * @returns what is left to do; undefined: nothing
   */
  pack?(pack: Pack, parameters: Parameters): Paced | undefined
}

/** Surroundings of a call that has no bodies and is neither random nor stateful. */
export const FOLDING: CallEnvironment = {
  allocate,
  wanted: () => true,
  body: () => {
    throw new Error('a call with bodies is not folded')
  },
  state: { read: () => undefined, write: () => undefined },
  random: () => () => 0,
  threads: 1
}

/**
 * Runs one call: parameters, shape, allocation, kernel. A generator, so that a heavy kernel can be interrupted.
 * @param inputs by input position
 * @returns one value an output; undefined for outputs that nobody wants
 */
export function* runCall(
  call: Call,
  inputs: readonly (Value | undefined)[],
  context: CallEnvironment
): Paced<(Value | undefined)[]> {
  const active = new ActiveCall(call, inputs, context)
  const work = active.start()
  if (work) yield* work
  return active.finish()
}

/** A call on its way: what its operator's `run` may ask and do. */
export class ActiveCall implements KernelContext {
  readonly dialect: KernelContext['dialect']
  readonly version: number
  readonly outputCount: number
  private readonly call: Call
  private readonly inputs: readonly (Value | undefined)[]
  private readonly context: CallEnvironment
  private readonly memo: CallMemo | undefined
  private readonly outputs: (Value | undefined)[]
  private expected: readonly Fact[] = []

  constructor(call: Call, inputs: readonly (Value | undefined)[], context: CallEnvironment, memo?: CallMemo) {
    this.dialect = call.node.dialect
    this.version = call.version
    this.outputCount = call.outputs.length
    this.call = call
    this.inputs = inputs
    this.context = context
    this.memo = memo
    this.outputs = new Array<undefined>(call.outputs.length)
    for (let i = 0; i < call.outputs.length; i++) this.outputs[i] = undefined
  }

  /**
   * Starts the kernel. A light one has done its work then; a heavy one returns what is left to do.
   * @param ready the preparation, where it has been made
   */
  start(ready?: RunPreparation): Paced | undefined {
    const { call, inputs, context, memo } = this
    const operands = byOperand(call, inputs)
    const { parameters, outputs, kernel, pack } = ready ?? prepareRun(call, inputs, operands, context, memo)
    this.expected = outputs
    const packing = pack && context.pack?.(pack, parameters)
    if (packing) return this.runAfter(packing, kernel, operands, parameters)
    const work = kernel ? kernel(operands, parameters, this) : call.op.run(operands, parameters, this)
    return work ? this.stepsOf(work) : undefined
  }

  private *runAfter(
    packing: Paced,
    kernel: Kernel | undefined,
    operands: ValueOperands,
    parameters: Parameters
  ): Paced {
    yield* packing
    const begun = kernel ? kernel(operands, parameters, this) : this.call.op.run(operands, parameters, this)
    const work = begun ? this.stepsOf(begun) : undefined
    if (work) yield* work
  }

  private stepsOf(returned: unknown): Paced | undefined {
    const { op } = this.call
    return isBuiltIn(op) ? (returned as Paced) : stepsOf(op, returned)
  }

  /** The outputs, held against what the shape rule said. */
  finish(): (Value | undefined)[] {
    const { maxRank } = this.call
    if (maxRank < MAX_RANK)
      for (const value of this.outputs) if (value && isTensor(value)) limitRank(value.dims.length, maxRank)
    for (let i = 0; i < this.expected.length; i++) holdAgainst(this.expected[i], this.outputs[i])
    return this.outputs
  }

  output(index = 0, dims?: readonly number[], type?: DType): Tensor {
    return this.allocate(index, dims, type, true)
  }

  rawOutput(index = 0, dims?: readonly number[], type?: DType): Tensor {
    return this.allocate(index, dims, type, false)
  }

  dimsOf(index: number): readonly number[] | undefined {
    const fact = this.expected[index]
    return fact?.kind === 'tensor' && fact.shape !== undefined && isConcrete(fact.shape) ? fact.shape : undefined
  }

  private allocate(
    index: number,
    dims: readonly number[] | undefined,
    type: DType | undefined,
    isZeroed: boolean
  ): Tensor {
    const fact = this.expected[index]
    const tensor = this.context.allocate(type ?? typeOf(fact), dims ?? dimsOf(fact), index, isZeroed)
    this.outputs[index] = tensor
    return tensor
  }

  extend(index: number, from: Tensor, axis: number, rows: number, isApart = false): Grown | undefined {
    const grown = this.context.extend?.(index, from, axis, rows, isApart)
    if (grown) this.outputs[index] = grown.tensor
    return grown
  }

  give(index: number, value: Value): void {
    this.outputs[index] = value
  }

  wanted(index: number): boolean {
    return index < this.outputCount && this.context.wanted(index)
  }

  random(seed?: number): () => number {
    return this.context.random(seed)
  }

  get state(): State {
    return this.context.state
  }

  get packed(): Packed | undefined {
    return this.context.packed
  }

  get threads(): number {
    return this.context.threads
  }
}

/** @throws NodewiseError `internal` when a kernel leaves a type to its shape rule, which does not know it */
export function typeOf(fact: Fact | undefined): DType {
  return fact?.kind === 'tensor' && fact.type !== undefined
    ? fact.type
    : fail('internal', 'the type of an output is not known')
}

/** The same for dims. */
export function dimsOf(fact: Fact | undefined): readonly number[] {
  return fact?.kind === 'tensor' && fact.shape !== undefined && isConcrete(fact.shape)
    ? fact.shape
    : fail('internal', 'the dims of an output are not known')
}

/**
 * A kernel that chooses its dims must stay within what its shape rule said.
 * @throws NodewiseError `internal`
 */
export function holdAgainst(fact: Fact, value: Value | Movable | undefined): void {
  if (value === undefined || !('dims' in value) || fact.kind !== 'tensor' || fact.shape === undefined) return
  const { shape } = fact
  const { dims } = value
  if (shape === dims) return
  let fits = shape.length === dims.length
  for (let i = 0; fits && i < dims.length; i++) {
    const dim = shape[i]
    fits = typeof dim === 'number' ? dim === dims[i] : dim.min <= dims[i] && dims[i] <= dim.max
  }
  if (!fits) fail('internal', `the kernel gave dims [${dims.join(', ')}], its shape rule ${printShape(shape)}`)
}
