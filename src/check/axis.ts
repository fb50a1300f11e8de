import type { Call } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { ValueId } from '../graph/graph.ts'
import { inferCall, noBody } from '../infer/infer.ts'
import type { Fact } from '../shapes/fact.ts'
import { agrees } from './compare.ts'
import type { Declarations } from './declarations.ts'

/** Which axes the declared dims of a call's outputs allow, where the file does not give the axis. */
export interface AxisAnswer {
  /** The value that is the axis. */
  readonly value: ValueId
  readonly rank: number
  /** Axes, from 0, that contradict no declaration. */
  readonly axes: readonly number[]
  /** Facts of the outputs, where exactly one axis fits. */
  readonly facts?: readonly Fact[]
}

/**
 * Tries every axis for a call whose axis is an input of unknown value, and compares the resulting outputs with what the
 * file declares. Undefined where the call has no such axis, where the rank is unknown, or where nothing is declared.
 */
export function solveAxis(
  call: Call,
  factOf: (id: ValueId) => Fact,
  declarations: Declarations
): AxisAnswer | undefined {
  const parameter = call.dataDependent.find(({ name, source }) => name === 'axis' && source.form === 'int')
  const value = parameter && call.inputs[parameter.source.index]
  const axisFact = value === undefined ? undefined : factOf(value)
  if (value === undefined || axisFact?.kind !== 'tensor' || axisFact.value !== undefined) return undefined
  const inputs = call.inputs.map(id => (id === undefined ? undefined : factOf(id)))
  const [data] = inputs
  const rank = data?.kind === 'tensor' ? data.shape?.length : undefined
  const declared = call.outputs.map(id => (id === undefined ? [] : declarations.of(id)))
  if (rank === undefined || declared.every(list => list.length === 0)) return undefined
  const axes: number[] = []
  let solution: readonly Fact[] = []
  for (let axis = 0; axis < rank; axis++) {
    const outputs = tryAxis(call, inputs, axis)
    if (!outputs?.every((fact, i) => (declared[i] ?? []).every(declaration => agrees(declaration, untyped(fact)))))
      continue
    axes.push(axis)
    solution = outputs
  }
  return { value, rank, axes, ...(axes.length === 1 && { facts: solution }) }
}

/** An axis gives dims alone: a false type is a fault of its own. */
const untyped = (fact: Fact): Fact =>
  fact.kind === 'tensor' ? { kind: 'tensor', ...(fact.shape && { shape: fact.shape }) } : fact

function tryAxis(call: Call, inputs: readonly (Fact | undefined)[], axis: number): readonly Fact[] | undefined {
  try {
    return inferCall(call, inputs, noBody, { overrides: { axis } })
  } catch (error) {
    if (error instanceof NodewiseError) return undefined
    throw error
  }
}
