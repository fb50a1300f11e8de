import type { Call } from '../bind/call.ts'
import { dimsOf, holdAgainst, typeOf } from '../infer/run.ts'
import type { KernelContext, Packed, State } from '../op-kit/define.ts'
import type { Fact } from '../shapes/fact.ts'
import { copyArray } from '../tensor/arrays.ts'
import { type DType, DTYPES, type NumericArray } from '../tensor/dtype.ts'
import { areSameDims, isTensor, product, Tensor, type Value, zero } from '../tensor/tensor.ts'

/** Thrown where a call does what cannot be repeated with the same tensors; the run is then taken in the usual way. */
export class Unrepeatable extends Error {}

const refuse = (): never => {
  throw new Unrepeatable()
}

/** Makes a tensor that stays where it is for as long as the recording lasts. */
export type MakeTensor = (type: DType, dims: readonly number[]) => Tensor

/** A call that is run again and again with the same tensors: its outputs are made once. */
export class RecordedCall implements KernelContext {
  readonly dialect: KernelContext['dialect']
  readonly version: number
  readonly outputCount: number
  readonly state: State = { read: refuse, write: refuse }
  readonly threads: number
  readonly packed: Packed | undefined
  readonly mayGiveParts = true
  /** By position, those that have been asked for or kept. */
  readonly outputs: (Tensor | undefined)[]
  /** Values that the kernel gave when it first ran, by position. */
  readonly given = new Map<number, Tensor>()
  private readonly facts: readonly Fact[]
  private readonly slots: readonly number[]
  private readonly make: MakeTensor
  /** The memory of all outputs, where a kernel has asked for it. */
  private inOne: NumericArray | undefined
  /** Whether it has run once, after which nothing new is made. */
  private isSealed = false

  /**
   * @param slots of the outputs; -1: nobody reads it
   * @param facts of the outputs, with numbers as dims
   */
  constructor(
    call: Call,
    slots: readonly number[],
    facts: readonly Fact[],
    packed: Packed | undefined,
    threads: number,
    make: MakeTensor
  ) {
    this.dialect = call.node.dialect
    this.version = call.version
    this.outputCount = call.outputs.length
    this.threads = threads
    this.packed = packed
    this.outputs = call.outputs.map(() => undefined)
    this.facts = facts
    this.slots = slots
    this.make = make
  }

  wanted(index: number): boolean {
    return this.slots[index] >= 0
  }

  output(index = 0, dims?: readonly number[], type?: DType): Tensor {
    const tensor = this.rawOutput(index, dims, type)
    zero(tensor)
    return tensor
  }

  rawOutput(index = 0, dims?: readonly number[], type?: DType): Tensor {
    const made = this.outputs[index] ?? this.makeOutput(index, dims, type)
    if ((type !== undefined && type !== made.type) || (dims !== undefined && !areSameDims(dims, made.dims)))
      throw new Unrepeatable()
    return made
  }

  outputsInOne(): NumericArray | undefined {
    const isNew = !this.isSealed && this.outputs.every(output => output === undefined)
    if (this.inOne === undefined && isNew) this.inOne = this.makeInOne()
    return this.inOne
  }

  dimsOf(index: number): readonly number[] {
    return dimsOf(this.facts[index])
  }

  give(index: number, value: Value): void {
    const made = this.outputs[index]
    if (!isTensor(value)) throw new Unrepeatable()
    if (made === undefined && this.isSealed) throw new Unrepeatable()
    if (made === undefined) this.given.set(index, value)
    else if (value.data !== made.data) this.copy(value, made)
  }

  /** Has an output that was given be a tensor that stays, into which later values are copied. */
  keep(index: number, value: Tensor): void {
    this.copy(value, this.makeOutput(index, value.dims, value.type))
  }

  /** From now on it only repeats what it has done. */
  seal(): void {
    this.isSealed = true
  }

  random(): () => number {
    return refuse()
  }

  private makeOutput(index: number, dims?: readonly number[], type?: DType): Tensor {
    if (this.isSealed) throw new Unrepeatable()
    const fact = this.facts[index]
    const tensor = this.make(type ?? typeOf(fact), dims ?? dimsOf(fact))
    holdAgainst(fact, tensor)
    this.outputs[index] = tensor
    return tensor
  }

  private makeInOne(): NumericArray | undefined {
    const [type, ...others] = this.facts.map(typeOf)
    if (others.some(other => other !== type)) return undefined
    const dims = this.facts.map(dimsOf)
    const whole = this.make(type, [dims.reduce((sum, each) => sum + product(each), 0)]).data as NumericArray
    let at = 0
    for (const [i, each] of dims.entries()) {
      const end = at + product(each) * DTYPES[type].slots
      this.outputs[i] = new Tensor(type, whole.subarray(at, end), each)
      at = end
    }
    return whole
  }

  private copy(from: Tensor, to: Tensor): void {
    if (from.type !== to.type || !areSameDims(from.dims, to.dims)) throw new Unrepeatable()
    copyArray(from.data as NumericArray, to.data as NumericArray)
  }
}
