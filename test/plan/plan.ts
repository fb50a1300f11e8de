import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { InferenceSession } from '../../src/index.ts'
import { propagate, type Propagation } from '../../src/infer/propagate.ts'
import type { Op } from '../../src/op-kit/define.ts'
import { PlanGraph, type PlanOptions } from '../../src/plan/graph.ts'
import { type Plan, planGraph } from '../../src/plan/plan.ts'
import { isTensor } from '../../src/tensor/tensor.ts'
import { type ModelParts, onnxModel } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'

/** What inference knows of a model. */
export async function inferred(parts: ModelParts, ops: readonly Op[] = []): Promise<Propagation> {
  return propagate(bind(await onnxModel(parts), registryWith(ops)))
}

const outputsOf = ({ bound }: Propagation): string[] => bound.graph.outputs.map(({ value }) => value)

/** The graph of a model before any pass, its outputs wanted. */
export async function graphOf(
  parts: ModelParts,
  options: PlanOptions = {},
  ops: readonly Op[] = []
): Promise<PlanGraph> {
  const result = await inferred(parts, ops)
  return new PlanGraph(result, outputsOf(result), options)
}

/** The plan of a model's outputs. */
export async function planOf(
  parts: ModelParts,
  options: PlanOptions & { wanted?: readonly string[] } = {},
  ops: readonly Op[] = []
): Promise<Plan> {
  const result = await inferred(parts, ops)
  return planGraph(result, options.wanted ?? outputsOf(result), options)
}

/** Operators of the calls of a graph, or of the steps of a plan, in order. */
export const opsOf = (of: PlanGraph | Plan): string[] =>
  ('steps' in of ? of.steps : of.calls).map(({ call }) => call.op.name)

/**
 * The largest difference between runs in fast and in exact precision on noise.
 * @param dims of each input
 * @param scale of the noise
 */
export async function differenceBetween(
  parts: ModelParts,
  dims: Readonly<Record<string, readonly number[]>>,
  scale = 1
): Promise<number> {
  const feeds = Object.fromEntries(Object.entries(dims).map(([name, of], i) => [name, noise(of, i + 9, scale)]))
  const results = []
  for (const precision of ['fast', 'exact'] as const) {
    const session = new InferenceSession(await onnxModel(parts), { precision })
    results.push(await session.run(feeds))
    session.dispose()
  }
  const [fast, exact] = results
  return Math.max(
    ...Object.keys(exact).map(name => {
      const [a, b] = [fast[name], exact[name]]
      if (!a || !b || !isTensor(a) || !isTensor(b)) throw new Error(`${name} is no tensor`)
      return differenceOf(a, b)
    })
  )
}
