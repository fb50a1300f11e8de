import type { BoundGraph, Call, Unbound } from '../bind/call.ts'
import type { Constant, Node, ValueId } from '../graph/graph.ts'
import { Earlier } from '../infer/earlier.ts'
import { Likes } from '../infer/likes.ts'
import type { CallMemo, KeptPreparation } from '../infer/prepare.ts'
import type { Propagation } from '../infer/propagate.ts'
import type { Pack, Packed } from '../op-kit/define.ts'
import type { Fact } from '../shapes/fact.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { outputsBypassed } from './bypass.ts'
import { type PlanCall, PlanGraph, type PlanOptions, positionOf, type RemovedNode } from './graph.ts'
import { Progress, runPasses } from './pass.ts'
import { IMPROVING, IMPROVING_FAST, SELECTING, SELECTING_FAST } from './passes.ts'
import { missingIn, refuseFailures, refuseFindings, refuseMissing } from './refuse.ts'

/** One call over numbered slots; -1 where an input or output is left out or unwanted. */
export interface Step {
  readonly call: Call
  /** The nodes of the file that it stands for. */
  readonly nodes: readonly Node[]
  /** Name of the pattern that fused them. */
  readonly fused: string | undefined
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  /** Slots whose value nobody reads after this step. */
  readonly free: readonly number[]
  /** Input positions whose storage output 0 may take over, where type and dims agree and the run alone holds it. */
  readonly inPlace: readonly number[]
  /** Input positions of the constants that a kernel may pack. */
  readonly constants: readonly number[]
  readonly bodies: ReadonlyMap<BoundGraph, BodyPlan>
  /** Input positions of the operands in which the call looks rows up: the table, then those beside it. */
  readonly tables: readonly number[]
  /** Converts rows of the table, which is a constant then: see `fused-convert.ts`. */
  readonly convert: Call | undefined
  /** What the call worked out in an earlier run. */
  readonly memo: StepMemo
}

/** What a step keeps from run to run. */
export interface StepMemo extends CallMemo {
  packs?: StepPacks | undefined
}

/** Preparations that the steps of a plan keep together, each about a kilobyte; and a step at least. */
const MAX_EARLIER = 1 << 13
const MIN_EARLIER = 16

/**
 * Nothing yet, in one form for all steps.
 * @param likes of the plan; undefined: it is that of a body
 */
const memoFor = (likes: CallMemo['likes'], mostEarlier: number): StepMemo => ({
  kept: undefined,
  earlier: new Earlier(mostEarlier),
  likes,
  like: undefined,
  packs: undefined
})

/** The packed constants of a step. */
export interface StepPacks {
  readonly pack: Pack
  /** Held by the session, which lets go of `packed` when memory is needed. */
  readonly entry: { readonly packed: Packed | undefined }
  /** Constants that the packed form stands for, by input position. */
  readonly unread: ReadonlyMap<number, Constant>
}

/** A body's plan and where what it captures lies in the enclosing frame. */
export interface BodyPlan {
  /** Made when first asked for: of two branches one may never run. */
  readonly plan: () => Plan
  /** Bodies around this one. */
  readonly depth: number
  readonly captures: readonly { readonly from: number; readonly id: ValueId }[]
}

/** A graph flattened into steps. */
export interface Plan {
  readonly bound: BoundGraph
  /** What is known of values, those included that passes added. */
  readonly facts: ReadonlyMap<ValueId, Fact>
  readonly slots: ReadonlyMap<ValueId, number>
  readonly steps: readonly Step[]
  readonly inputs: readonly number[]
  /** Inputs, by position, that are read and have no default. */
  readonly needed: readonly number[]
  readonly outputs: readonly number[]
  /** For each slot the first of the outputs that it is; -1: none. */
  readonly outputAt: readonly number[]
  /** For each output whether a step makes it; true once where it is there twice. */
  readonly isMade: readonly boolean[]
  /** For each output the position of the input, a cache, that it extends and that nothing else reads; -1: none. */
  readonly grown: readonly number[]
  /** What slots hold from the start: constants. */
  readonly initial: readonly (Constant | Tensor | undefined)[]
  /** Nodes that have no step, and why. */
  readonly removed: readonly RemovedNode[]
}

/** A graph whose calls have been selected, and what it has been through. */
interface Selected {
  readonly graph: PlanGraph
  readonly progress: Progress
}

/** What is common to the plans of a graph and of the bodies in it. */
interface Planning {
  readonly options: PlanOptions
  /** Nodes without an operator, those of bodies too, so that all of them can be named together. */
  readonly missing: Unbound[]
  /** Bodies that propagation came to; they get their plans when they first run. */
  readonly selected: Map<BoundGraph, Selected>
}

/**
 * Plans what is needed for `wanted`: passes choose, join and order the calls, then values get numbered slots. Of bodies
 * the calls are chosen; the rest is left until one first runs.
 * @throws NodewiseError the first fault that matters, or one `unsupported-op` that names every operator which is
 *   missing
 */
export function planGraph(result: Propagation, wanted: readonly ValueId[], options: PlanOptions = {}): Plan {
  const planning: Planning = { options, missing: [], selected: new Map() }
  const selected = select(result, wanted, planning)
  refuseMissing(planning.missing)
  const plan = planOf(selected, planning, 0)
  refuseFailures(selected.graph, result)
  return plan
}

/** Chooses the calls of a graph and of the bodies in it. */
function select(result: Propagation, wanted: readonly ValueId[], planning: Planning, outer?: PlanGraph): Selected {
  const { options, missing, selected } = planning
  const graph = new PlanGraph(result, wanted, options)
  if (outer) takeConstants(graph, outer)
  const progress = new Progress()
  runPasses(graph, options.isExact === true ? SELECTING : SELECTING_FAST, progress)
  refuseFindings(graph)
  missing.push(...missingIn(graph))
  for (const { call } of graph.calls)
    for (const body of call.bodies.values()) {
      const found = graph.bodies.get(body)
      if (!found) continue
      const outputs = options.isObserved === true ? wantedOf(body) : outputsBypassed(body)
      selected.set(body, select(found, outputs, planning, graph))
    }
  return { graph, progress }
}

const wantedOf = ({ graph }: BoundGraph): ValueId[] => graph.outputs.map(({ value }) => value)

/** What a body captures and the graph around it has as a constant is one in the body, too. */
function takeConstants(graph: PlanGraph, outer: PlanGraph): void {
  for (const id of graph.bound.captures) {
    const constant = outer.constantOf(id)
    if (constant) graph.constants.set(id, constant)
  }
}

function planOf({ graph, progress }: Selected, planning: Planning, depth: number): Plan {
  runPasses(graph, planning.options.isExact === true ? IMPROVING : IMPROVING_FAST, progress)
  return lower(graph, bodyPlans(graph, planning, depth))
}

type BodyPlans = ReadonlyMap<BoundGraph, Omit<BodyPlan, 'captures'>>

function bodyPlans(graph: PlanGraph, planning: Planning, depth: number): BodyPlans {
  const plans = new Map<BoundGraph, Omit<BodyPlan, 'captures'>>()
  for (const { call } of graph.calls)
    for (const body of call.bodies.values())
      if (!plans.has(body)) plans.set(body, { plan: bodyPlan(body, graph, planning, depth + 1), depth })
  return plans
}

/**
 * A body that propagation never came to is a branch that is known not to be taken, or its node failed: then nothing is
 * folded.
 */
function bodyPlan(bound: BoundGraph, outer: PlanGraph, planning: Planning, depth: number): BodyPlan['plan'] {
  let selected = planning.selected.get(bound)
  // Passes over the graph around it have made more constants since.
  if (selected) takeConstants(selected.graph, outer)
  planning.selected.delete(bound)
  let plan: Plan | undefined
  return () => {
    plan ??= selected
      ? planOf(selected, planning, depth)
      : planGraph({ bound, facts: new Map(), failures: [], bodies: new Map() }, wantedOf(bound), planning.options)
    selected = undefined
    return plan
  }
}

/** Numbers of values, in the order in which they are asked for. */
class Slots {
  readonly byId = new Map<ValueId, number>()

  of(id: ValueId): number {
    const known = this.byId.get(id)
    if (known !== undefined) return known
    const slot = this.byId.size
    this.byId.set(id, slot)
    return slot
  }
}

/** Numbers the values of a graph, or of a body, that has been through all passes. */
function lower(graph: PlanGraph, bodies: BodyPlans): Plan {
  const { bound, wanted, constants } = graph
  const slots = new Slots()
  const inputs = bound.graph.inputs.map(({ value }) => slots.of(value))
  for (const id of bound.captures) slots.of(id)
  const outputs = wanted.map(id => slots.of(id))
  const likes = graph.isBody ? undefined : new Likes<KeptPreparation>()
  const most = Math.max(MIN_EARLIER, Math.floor(MAX_EARLIER / graph.calls.length))
  const steps: Step[] = []
  for (const item of graph.calls) steps.push(stepOf(graph, item, slots, bodies, memoFor(likes, most)))
  const initial = new Array<Constant | Tensor | undefined>(slots.byId.size).fill(undefined)
  for (const [id, constant] of constants) if (slots.byId.has(id)) initial[slots.of(id)] = constant
  const results = new Set(steps.flatMap(step => step.outputs))
  const outputAt = new Array<number>(slots.byId.size).fill(-1)
  outputs.forEach((slot, i) => {
    if (outputAt[slot] < 0) outputAt[slot] = i
  })
  return {
    bound,
    facts: graph.facts,
    removed: graph.removed,
    slots: slots.byId,
    steps,
    inputs,
    outputs,
    outputAt,
    initial,
    needed: bound.graph.inputs.flatMap(({ value }, i) =>
      graph.isRead(value) && !bound.constants.has(value) ? [i] : []
    ),
    isMade: outputs.map((slot, i) => results.has(slot) && outputAt[slot] === i),
    grown: grownFrom(steps, outputs, inputs)
  }
}

/** A plan with other parts, in the form of `lower`. */
export function alteredPlan(plan: Plan, changes: Partial<Plan>): Plan {
  const parts = { ...plan, ...changes }
  const { bound, facts, removed, slots, steps, inputs, outputs, outputAt, initial, needed, isMade, grown } = parts
  return { bound, facts, removed, slots, steps, inputs, outputs, outputAt, initial, needed, isMade, grown }
}

/** @param inputs slots of the inputs */
function grownFrom(steps: readonly Step[], outputs: readonly number[], inputs: readonly number[]): readonly number[] {
  const grown = new Map<number, number>()
  for (const { call, inputs: read, outputs: made } of steps)
    for (const [index, name] of Object.entries(call.op.grows ?? {})) {
      const from = read[positionOf(call, name)] ?? -1
      if (inputs.includes(from)) grown.set(made[Number(index)], from)
    }
  if (grown.size === 0) return outputs.map(() => -1)
  const reads = new Map<number, number>()
  for (const { inputs: read, bodies } of steps) {
    const captured = [...bodies.values()].flatMap(({ captures }) => captures.map(({ from }) => from))
    for (const slot of [...read, ...captured]) reads.set(slot, (reads.get(slot) ?? 0) + 1)
  }
  return outputs.map(slot => {
    const from = grown.get(slot)
    return from !== undefined && reads.get(from) === 1 && !outputs.includes(from) ? inputs.indexOf(from) : -1
  })
}

function stepOf(graph: PlanGraph, item: PlanCall, slots: Slots, plans: BodyPlans, memo: StepMemo): Step {
  const { call, nodes, fused, inPlace, constants, convert } = item
  const bodies = new Map<BoundGraph, BodyPlan>()
  for (const body of call.bodies.values()) {
    const { plan, depth } = plans.get(body)!
    bodies.set(body, { plan, depth, captures: body.captures.map(id => ({ from: slots.of(id), id })) })
  }
  const inputs: number[] = []
  for (const id of call.inputs) inputs.push(id === undefined ? -1 : slots.of(id))
  const outputs: number[] = []
  for (const id of call.outputs) outputs.push(id !== undefined && graph.isRead(id) ? slots.of(id) : -1)
  const free: number[] = []
  for (const id of item.free) if (graph.isRead(id)) free.push(slots.of(id))
  return {
    call,
    nodes,
    fused,
    inputs,
    outputs,
    free,
    inPlace,
    constants,
    bodies,
    tables: tablesOf(call),
    convert,
    memo
  }
}

/** A step after which nobody reads some more slots. It shares what the step keeps from run to run. */
export const alsoFreeing = (step: Step, slots: readonly number[]): Step =>
  freeing(step, [...step.free, ...slots], step.inPlace)

/** Steps without those that are spared: what these free is freed by the step before. */
export function withoutSpared(steps: readonly Step[], isSpared: (step: Step) => boolean): readonly Step[] {
  const left: Step[] = []
  for (const step of steps) {
    if (!isSpared(step)) left.push(step)
    else if (step.free.length > 0 && left.length > 0) left.push(alsoFreeing(left.pop()!, step.free))
  }
  return left
}

/** A step that leaves all that it reads as it is, for steps that are taken later than planned. */
export const leavingAll = (step: Step): Step => freeing(step, [], [])

/** The same step, which keeps what it works out from now on for itself. */
export const withOwnMemo = (step: Step): Step => freeing(step, step.free, step.inPlace, { ...step.memo })

/** The same step, after which other slots are free. */
export function freeing(step: Step, free: readonly number[], inPlace: readonly number[], memo = step.memo): Step {
  const { call, nodes, fused, inputs, outputs, constants, bodies, tables, convert } = step
  // In the order of `stepOf`: what reads steps is fastest where all of them have one form.
  return { call, nodes, fused, inputs, outputs, free, inPlace, constants, bodies, tables, convert, memo }
}

/** Slots whose values a step reads, for itself or for its bodies. */
export const slotsReadBy = ({ inputs, bodies }: Step): number[] => [
  ...inputs.filter(slot => slot >= 0),
  ...[...bodies.values()].flatMap(({ captures }) => captures.map(({ from }) => from))
]

const tablesOf = (call: Call): readonly number[] => {
  const { rows } = call.op
  if (rows === undefined) return []
  return [rows.table, ...(rows.beside ?? [])]
    .map(name => positionOf(call, name))
    .filter(index => call.inputs[index] !== undefined)
}
