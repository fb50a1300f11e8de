import { bind } from '../../bind/bind.ts'
import type { Registry } from '../../bind/registry.ts'
import type { Model, Node, ValueId } from '../../graph/graph.ts'
import { propagate, type Propagation } from '../../infer/propagate.ts'
import { typeText } from '../../infer/types.ts'
import { printable } from '../../io/print.ts'
import { type PlanMemory, planMemory } from '../../plan/peak.ts'
import { type Plan, planGraph, type Step } from '../../plan/plan.ts'
import { mayAgree } from '../../plan/schedule.ts'
import { printShape } from '../../shapes/dim.ts'
import type { Fact } from '../../shapes/fact.ts'
import { counted, grouped, type Style, table } from '../terminal.ts'

/** A step as a plan has it before any run. */
export interface DescribedStep {
  readonly op: string
  /** Names of the nodes of the file that it stands for; `#3` for the fourth node where it has none. */
  readonly nodes: readonly string[]
  /** Types and dims of its outputs, as far as they are known. */
  readonly outputs: readonly string[]
  /** Name of the pattern that fused its nodes. */
  readonly fused?: string
  /** Operands that are constants, and that its operator packs when it first runs. */
  readonly packed?: readonly string[]
  /** Its first output takes the memory of an operand: always, or if dims turn out to agree. */
  readonly inPlace?: 'always' | 'where dims agree'
  /** Plans of its bodies; a branch that is never taken has none. */
  readonly bodies?: readonly DescribedPlan[]
}

/** What a run of all outputs does, and what it takes. */
export interface DescribedPlan {
  readonly steps: readonly DescribedStep[]
  /** Nodes whose results are known before any run. */
  readonly folded: readonly string[]
  /** Nodes that no output depends on. */
  readonly pruned: readonly string[]
  readonly memory: PlanMemory
}

/**
 * The plan of a run that returns all outputs and that nobody watches. No weights are read.
 * @throws NodewiseError what a run fails with before its first step, such as `unsupported-op`
 */
export function describePlan(model: Model, registry: Registry): DescribedPlan {
  // Inputs with initializers are not given.
  const replaced: readonly ValueId[] = []
  const result = propagate(bind(model, registry), { replaced })
  const wanted = model.graph.outputs.map(({ value }) => value)
  return described(planGraph(result, wanted, { replaced }), result)
}

function described(plan: Plan, result: Propagation): DescribedPlan {
  const removed = (wanted: string): string[] =>
    plan.removed.filter(({ why }) => why === wanted).map(({ node }) => nameOf(node))
  return {
    steps: plan.steps.map(step => describedStep(step, plan.facts, result)),
    folded: removed('folded').reverse(),
    pruned: removed('pruned').reverse(),
    memory: planMemory(plan)
  }
}

function describedStep(step: Step, facts: Plan['facts'], { bodies }: Propagation): DescribedStep {
  const { call, nodes, fused, inPlace, constants } = step
  const packed = call.op.pack ? call.operands.filter(({ index }) => constants.includes(index)) : []
  const factAt = (id: ValueId | undefined): Fact | undefined => (id === undefined ? undefined : facts.get(id))
  const isSure = inPlace.some(position => mayAgree(factAt(call.inputs[position]), factAt(call.outputs[0])))
  const inner = [...step.bodies].flatMap(([body, { plan: planned }]) => {
    // Passes change outputs of bodies, which are other ones then; the path of a graph stays.
    const known = bodies.get(body) ?? [...bodies.values()].find(({ bound }) => bound.graph.path === body.graph.path)
    return known ? [described(planned(), known)] : []
  })
  return {
    op: call.op.name,
    nodes: nodes.map(nameOf),
    outputs: call.outputs.filter((_, i) => step.outputs[i] >= 0).map(id => typeAndShape(factAt(id))),
    ...(fused !== undefined && { fused }),
    ...(packed.length > 0 && { packed: packed.map(({ name }) => name) }),
    ...(inPlace.length > 0 && { inPlace: isSure ? ('always' as const) : ('where dims agree' as const) }),
    ...(inner.length > 0 && { bodies: inner })
  }
}

const nameOf = ({ name, index }: Node): string => name || `#${index}`

const typeAndShape = (fact: Fact | undefined): string =>
  fact === undefined || fact.kind === 'tensor'
    ? `${fact?.type ?? '?'}${printShape(fact?.shape)}`
    : (typeText(fact) ?? fact.kind)

/** A plan for people. */
export function planText(plan: DescribedPlan, { bold }: Style): string {
  const count = (what: (step: DescribedStep) => unknown): string => counted(plan.steps.filter(what).length, 'step')
  const lines = (rows: readonly (readonly string[])[], right: readonly number[] = []): string[] => {
    const cells = rows.map(row => row.map(printable))
    return table(cells, right).map(line => `  ${line}`)
  }
  const total = [
    ['steps', grouped(plan.steps.length)],
    ['folded', listed(plan.folded)],
    ['pruned', listed(plan.pruned)],
    ['fused', count(step => step.fused)],
    ['packed', count(step => step.packed)],
    ['in place', count(step => step.inPlace)],
    ['results', memoryText(plan)],
    ['constants', `${counted(plan.memory.constantBytes, 'byte')} read whole`],
    ['tables', `${counted(plan.memory.tableBytes, 'byte')} of which rows are looked up`]
  ]
  return [bold('plan'), ...lines(stepRows(plan, '')), '', bold('in all'), ...lines(total)].join('\n')
}

/** Number, operator, nodes, outputs, and what passes did; steps of bodies below the step that runs them. */
const stepRows = ({ steps }: DescribedPlan, before: string): string[][] =>
  steps.flatMap((step, i) => [
    [`${before}${i}`, step.op, step.nodes.join(' + '), step.outputs.join(', '), notesOf(step)],
    ...(step.bodies ?? []).flatMap((body, b) => stepRows(body, `${before}${i}.${b}.`))
  ])

const notesOf = ({ fused, packed, inPlace }: DescribedStep): string =>
  [
    ...(fused === undefined ? [] : [`fused: ${fused}`]),
    ...(packed === undefined ? [] : [`packs ${packed.join(', ')}`]),
    ...(inPlace === undefined ? [] : [inPlace === 'always' ? 'in place' : `in place ${inPlace}`])
  ].join('; ')

const listed = (nodes: readonly string[]): string =>
  nodes.length === 0 ? 'none' : `${counted(nodes.length, 'node')}: ${nodes.join(', ')}`

function memoryText({ memory: { peakBytes, peakStep, isLowerBound } }: DescribedPlan): string {
  const bytes = `${counted(peakBytes, 'byte')} at once${peakStep < 0 ? '' : `, at step ${peakStep}`}`
  return isLowerBound ? `at least ${bytes} (some dims are known only when it runs)` : bytes
}
