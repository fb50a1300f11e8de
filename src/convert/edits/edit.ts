import { bind } from '../../bind/bind.ts'
import type { Registry } from '../../bind/registry.ts'
import { fail } from '../../errors.ts'
import type { DeclaredDim, Model } from '../../graph/graph.ts'
import { inputFacts } from '../../infer/declared.ts'
import { propagate, type Propagation } from '../../infer/propagate.ts'
import { declarationOf, declareInferred } from './declare.ts'
import { extract } from './extract.ts'
import { halveWeights } from './half.ts'
import type { Change } from './nodes.ts'
import { moveToOpset } from './opset.ts'
import { simplify } from './simplify.ts'

/** What is changed in a model. */
export interface EditOptions {
  /** Values that become the inputs; others of the model stay where they are needed. */
  readonly from?: readonly string[]
  /** Values that become the outputs. */
  readonly to?: readonly string[]
  /** Dims of inputs by name, in place of the declared ones. */
  readonly inputShapes?: ReadonlyMap<string, readonly DeclaredDim[]>
  /** ONNX: the operator set to import. */
  readonly opset?: number
  /** Known values become constants; what does nothing, or nothing needs, is left out. */
  readonly simplify?: boolean
  /** Weights are stored in half precision. */
  readonly half?: boolean
  /** Inferred types and dims are declared, in place of false ones. */
  readonly inferShapes?: boolean
}

/** The model that edits made, and what they changed. */
export interface Edited {
  readonly model: Model
  readonly changed: readonly Change[]
}

/**
 * Edits a model; an IR gets `inferShapes` and `inputShapes` alone. The model that is given stays as it is; what is not
 * edited stays what it is in the file.
 * @throws NodewiseError `bad-usage` for names that are no values, `unexpected-input` for shapes of what is no input,
 *   `unsupported-op` for an operator set in which nodes mean something else
 */
export function editModel(model: Model, registry: Registry, options: EditOptions): Edited {
  const { from = [], to = [], inputShapes } = options
  if (model.dialect === 'openvino') refuseForIr(options)
  const inputs = inputFacts(model, inputShapes)
  const known = (of: Model): Propagation => propagate(bind(of, registry), { inputs })
  const changed: Change[] = []
  let edited = model
  if (from.length > 0 || to.length > 0) {
    const { facts } = known(model)
    edited = extract(model, from, to, id => {
      const fact = facts.get(id)
      return fact && declarationOf(fact)
    })
  }
  if (options.opset !== undefined) edited = moveToOpset(edited, options.opset, registry)
  const apply = (step: { model: Model; changed: readonly Change[] }): void => {
    edited = step.model
    changed.push(...step.changed)
  }
  if (options.simplify) apply(simplify(edited, known(edited)))
  if (options.half) apply(halveWeights(edited))
  if (options.inferShapes || inputs.size > 0) apply(declareInferred(edited, known(edited)))
  return { model: edited, changed }
}

/** A model in which every declaration that cannot be true is replaced by what is inferred. */
export const fixDeclarations = (model: Model, registry: Registry): Edited =>
  declareInferred(model, propagate(bind(model, registry)), { falseOnly: true })

/** Edits that an IR cannot have as long as it is one. */
function refuseForIr({ from = [], to = [], simplify: simplifies, half, opset }: EditOptions): void {
  const asked = Object.entries({ from: from.length > 0, to: to.length > 0, simplify: simplifies, f16: half, opset })
  const [found] = asked.find(([, value]) => value !== undefined && value !== false) ?? []
  if (found !== undefined)
    fail('bad-usage', `--${found} edits models of ONNX; convert the IR to ONNX first, then edit that`)
}
