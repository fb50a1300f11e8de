import type { BoundGraph } from '../bind/call.ts'
import { fail } from '../errors.ts'
import type { GraphPort, Model } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'
import { Tensor, type Value } from '../tensor/tensor.ts'
import { acceptInput } from './border.ts'
import type { Plan } from './plan.ts'

/** A tensor, or anything of its form such as a tensor of `onnxruntime-common`. */
export type Feed = Value | { readonly type: DType; readonly dims: readonly number[]; readonly data: ArrayLike<unknown> }
export type Feeds = Readonly<Record<string, Feed>>

export function valueFrom(feed: Feed): Value {
  if (feed instanceof Tensor || feed.type === 'sequence' || feed.type === 'optional') return feed
  const { type, data, dims } = feed as { type: DType; data: never; dims: readonly number[] }
  return new Tensor(type, data, dims)
}

/**
 * The caller's values by slot, as the model wants them.
 * @throws NodewiseError `unexpected-input`, `missing-input`, and where a value is not what the model declares
 */
export function acceptFeeds(model: Model, bound: BoundGraph, plan: Plan, feeds: Feeds): Map<number, Value> {
  const { inputs } = model.graph
  const given = new Map<number, Value>()
  const names = new Map<string, { size: number; input: string }>()
  for (const [name, feed] of Object.entries(feeds)) {
    const at = indexOfPort(inputs, name)
    if (at < 0) fail('unexpected-input', `the model has no input "${name}"; it has ${inputs.map(input => `"${input.name}"`).join(', ') || 'none'}`)
    if (given.has(plan.inputs[at])) fail('unexpected-input', `input "${inputs[at].name}" is given twice`)
    given.set(plan.inputs[at], acceptInput(model, inputs[at], valueFrom(feed), names))
  }
  inputs.forEach((input, i) => {
    if (given.has(plan.inputs[i]) || bound.constants.has(input.value) || !isRead(plan, i)) return
    fail('missing-input', `input "${input.name}" is not given`)
  })
  return given
}

const isRead = (plan: Plan, input: number): boolean => {
  const slot = plan.inputs[input]
  return plan.outputs.includes(slot) || plan.steps.some(step =>
    step.inputs.includes(slot) || [...step.bodies.values()].some(body => body.captures.some(({ from }) => from === slot)))
}

function indexOfPort(ports: readonly GraphPort[], name: string): number {
  const exact = ports.findIndex(port => port.name === name)
  return exact >= 0 ? exact : ports.findIndex(port => port.aliases.includes(name))
}
