import { fail } from '../errors.ts'
import type { Body, RunCall, ShapeCall, State } from '../ops/define.ts'
import { isConcrete, printShape } from '../shapes/dim.ts'
import { type Fact, factOf } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import type { BoundGraph, Call } from './call.ts'
import { parametersOf } from './parameters.ts'
import { checkTypes } from './types.ts'

/** What surrounds a call while it runs. */
export interface RunContext {
  allocate(type: DType, dims: readonly number[]): Tensor
  /** Whether output `index` is read by anybody. */
  wanted(index: number): boolean
  body(bound: BoundGraph): Body
  readonly state: State
  random(seed?: number): () => number
  /** Parameters that the run sets for every call that has them. */
  readonly overrides?: Readonly<Record<string, unknown>>
}

export const shapeCallOf = (call: Call): ShapeCall =>
  ({ dialect: call.node.dialect, version: call.version, outputCount: call.outputs.length })

/**
 * Runs one call: parameters, shape, allocation, kernel. A generator, so that a heavy kernel can be interrupted.
 * @param inputs by input position
 * @returns one value an output; undefined for outputs that nobody wants
 */
export function* runCall(call: Call, inputs: readonly (Value | undefined)[], context: RunContext): Generator<void, (Value | undefined)[]> {
  const { op } = call
  const facts = inputs.map(value => value && factOf(value))
  checkTypes(call, facts)
  const parameters = parametersOf(call, facts, context.overrides)
  for (const [name, bound] of call.bodies) parameters[name] = context.body(bound)
  const shapeCall = shapeCallOf(call)
  const expected = op.dynamic ? [] : op.shape(byOperand(call, facts) as never, parameters as never, shapeCall)
  const outputs: (Value | undefined)[] = new Array(call.outputs.length).fill(undefined)
  const runCall: RunCall = {
    ...shapeCall,
    state: context.state,
    random: context.random,
    wanted: context.wanted,
    output(index = 0, dims, type) {
      const fact = expected[index]
      const tensor = context.allocate(type ?? typeOf(fact), dims ?? dimsOf(fact))
      outputs[index] = tensor
      return tensor
    },
    give(index, value) {
      outputs[index] = value
    }
  }
  const steps = op.run(byOperand(call, inputs) as never, parameters as never, runCall)
  if (steps) yield* steps
  expected.forEach((fact, i) => holdAgainst(fact, outputs[i]))
  return outputs
}

function typeOf(fact: Fact | undefined): DType {
  return fact?.kind === 'tensor' && fact.type !== undefined ? fact.type : fail('internal', 'the type of an output is not known')
}

function dimsOf(fact: Fact | undefined): readonly number[] {
  return fact?.kind === 'tensor' && fact.shape !== undefined && isConcrete(fact.shape) ? fact.shape : fail('internal', 'the dims of an output are not known')
}

/** A kernel that chooses its dims must stay within what its shape function said. */
function holdAgainst(fact: Fact, value: Value | undefined): void {
  if (value === undefined || !isTensor(value) || fact.kind !== 'tensor' || fact.shape === undefined) return
  const fits = fact.shape.length === value.dims.length && fact.shape.every((dim, i) => typeof dim === 'number' ? dim === value.dims[i] : dim.min <= value.dims[i] && value.dims[i] <= dim.max)
  if (!fits) fail('internal', `the kernel gave dims [${value.dims.join(', ')}], its shape rule ${printShape(fact.shape)}`)
}

/** Items by input position as the operator names them; variadic operands take the rest. */
export function byOperand<T>(call: Call, items: readonly (T | undefined)[]): Record<string, T | undefined | readonly T[]> {
  const result: Record<string, T | undefined | readonly T[]> = {}
  for (const { name, kind, index } of call.operands) {
    result[name] = kind.endsWith('variadic') ? items.slice(index).filter(item => item !== undefined) : items[index]
  }
  return result
}
