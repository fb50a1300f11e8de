import type { ValueId } from '../graph/graph.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import type { Plan, Step } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import { type Fact, tensorFact } from '../shapes/fact.ts'
import { isInteger } from '../tensor/dtype.ts'
import { isTensor, Tensor } from '../tensor/tensor.ts'
import type { Request, SpecialRequests } from './request.ts'
import type { Settled } from './settled.ts'
import { agrees, type Given, type Signature, signatureOf } from './signature.ts'

/** Most plans that are made for some values of inputs, and for some dims. */
const MAX_OF_VALUES = 4
const MAX_OF_DIMS = 2

/** What is known of inputs. */
export type GivenFacts = ReadonlyMap<ValueId, Fact>

/** Plans for inputs of which more is known than the file says. */
export type MakeRequest = (facts: GivenFacts) => Generator<void, Request>

/**
 * Plans in which branches are known by the elements of inputs that are single integers or bools, such as a sampling
 * rate, or whether there is a cache: `branches` puts the nodes of the one that is taken in the place of the If.
 */
export class ByValues implements SpecialRequests {
  private readonly deciding: readonly number[]
  private readonly ids: readonly ValueId[]
  private readonly plan: Plan
  private readonly make: MakeRequest
  private readonly made = new Map<string, Request>()
  private isUseless = false

  /** @param deciding positions of the inputs */
  constructor(plan: Plan, deciding: readonly number[], make: MakeRequest) {
    this.deciding = deciding
    this.ids = deciding.map(at => plan.bound.graph.inputs[at].value)
    this.plan = plan
    this.make = make
  }

  all(): readonly Request[] {
    return [...this.made.values()]
  }

  *requestFor(given: Given): Generator<void, Request | undefined> {
    const values = this.deciding.map(at => given[at])
    let key = ''
    for (const value of values) {
      if (value === undefined || !isTensor(value) || value.data.length !== 1) return undefined
      key += `${String(value.data[0])} ${value.dims.length} `
    }
    const known = this.made.get(key)
    if (known !== undefined || this.isUseless || this.made.size === MAX_OF_VALUES) return known
    const facts = this.ids.map((id, i): [ValueId, Fact] => {
      const { type, data, dims } = values[i] as Tensor
      const copy = new Tensor(type, data.slice(), dims.slice())
      return [id, tensorFact(type, copy.dims, copy)]
    })
    const request = yield* this.make(new Map(facts))
    this.isUseless = !knowsMore(request.plan, this.plan)
    if (this.isUseless) return undefined
    this.made.set(key, request)
    return request
  }
}

/**
 * Plans in which branches are known by the dims of inputs, where those are the same again and again, and what is
 * settled by dims leaves branches: bodies of their own, or such whose condition a body makes.
 */
export class ByDims implements SpecialRequests {
  private readonly plan: Plan
  private readonly make: MakeRequest
  private readonly made: { readonly signature: Signature; readonly request: Request }[] = []
  private isUseless = false

  constructor(plan: Plan, make: MakeRequest) {
    this.plan = plan
    this.make = make
  }

  all(): readonly Request[] {
    return this.made.map(({ request }) => request)
  }

  *requestFor(given: Given, settled: Settled): Generator<void, Request | undefined> {
    const known = this.made.find(({ signature }) => agrees(signature, given))
    if (known !== undefined || this.isUseless || this.made.length === MAX_OF_DIMS) return known?.request
    const kept = settled.keptFor(given)
    const signature = kept?.steps.some(isBranching) === true ? signatureOf(given) : undefined
    if (kept === undefined || signature === undefined) return undefined
    const { inputs } = this.plan.bound.graph
    const facts = signature.flatMap((fact, i): [ValueId, Fact][] => (fact ? [[inputs[i].value, fact]] : []))
    const request = yield* this.make(new Map(facts))
    this.isUseless = !knowsMore(request.plan, this.plan)
    if (this.isUseless) return undefined
    this.made.push({ signature, request })
    return request
  }
}

const isBranching = ({ call: { op } }: Step): boolean => op.name === 'If' && isBuiltIn(op)

/** Whether a plan knows a branch which another one does not; it may have others in that branch. */
function knowsMore(special: Plan, { steps }: Plan): boolean {
  const left = new Set(special.steps.filter(isBranching).map(({ call }) => call.node))
  return steps.some(step => isBranching(step) && !left.has(step.call.node))
}

export const hasBranches = (plan: Plan): boolean => plan.steps.some(isBranching)

/** Positions of the inputs, all of them single integers or bools, that decide on their own which branches are taken. */
export function decidingInputs(plan: Plan): readonly number[] {
  const makers = new Map<number, Step>()
  for (const step of plan.steps) for (const slot of step.outputs) if (slot >= 0) makers.set(slot, step)
  const positions = new Map(plan.inputs.map((slot, i) => [slot, i]))
  const deciding = plan.steps.filter(isBranching).flatMap(step => originsOf(step.inputs[0], plan, makers, positions))
  return [...new Set(deciding)].sort((a, b) => a - b)
}

/** The inputs that a value is made of alone; none where it is also made of something else. */
function originsOf(
  slot: number,
  plan: Plan,
  makers: ReadonlyMap<number, Step>,
  positions: ReadonlyMap<number, number>
): number[] {
  const seen = new Set<number>()
  const found: number[] = []
  for (const left = [slot]; left.length > 0;) {
    const next = left.pop()!
    if (next < 0 || seen.has(next)) continue
    seen.add(next)
    const position = positions.get(next)
    if (position !== undefined) {
      if (!isSingle(plan, position)) return []
      found.push(position)
    } else if (plan.initial[next] === undefined) {
      const maker = makers.get(next)
      if (maker === undefined || maker.call.op.impure || maker.bodies.size > 0) return []
      left.push(...maker.inputs)
    }
  }
  return found
}

/** Whether an input is declared to be one integer or bool. */
function isSingle({ bound, facts }: Plan, position: number): boolean {
  const fact = facts.get(bound.graph.inputs[position].value)
  if (fact?.kind !== 'tensor' || fact.type === undefined || fact.shape === undefined || !isConcrete(fact.shape))
    return false
  return (isInteger(fact.type) || fact.type === 'bool') && fact.shape.every(dim => dim === 1)
}
