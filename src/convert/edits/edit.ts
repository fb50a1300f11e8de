import { bind } from '../../bind/bind.ts'
import type { Registry } from '../../bind/registry.ts'
import { derive } from '../../graph/derive.ts'
import type { DeclaredDim, Model } from '../../graph/graph.ts'
import { inputFacts } from '../../infer/declared.ts'
import { propagate, type Propagation } from '../../infer/propagate.ts'
import type { Conversions } from '../../op-kit/conversion.ts'
import { declarationOf, declaredIn } from '../declare.ts'
import { declareInferred } from './declare.ts'
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
  /** ONNX: the operator set to import. IR: the newest that layers may name. */
  readonly opset?: number
  /** Known values become constants; what does nothing, or nothing needs, is left out. */
  readonly simplify?: boolean
  /** Weights are stored in half precision. */
  readonly half?: boolean
  /** Inferred types and dims are declared, in place of false ones. */
  readonly inferShapes?: boolean
}

/** The first version of ONNX's IR in which an initializer need not be an input. */
const OWN_CONSTANTS = 4

const NO_CONVERSIONS: Conversions = { rules: [], leniencies: [] }

/** The model that edits made, and what they changed. */
export interface Edited {
  readonly model: Model
  readonly changed: readonly Change[]
}

/**
 * Edits a model of either dialect. The model that is given stays as it is; what is not edited stays what it is in the
 * file.
 * @param conversions what families of operators know of other operator sets, for `opset`
 * @throws NodewiseError `bad-usage` for names that are no values, `unexpected-input` for shapes of what is no input,
 *   `unsupported-op` for an operator set in which nodes mean something else
 */
export function editModel(
  model: Model,
  registry: Registry,
  options: EditOptions,
  conversions: Conversions = NO_CONVERSIONS
): Edited {
  const { from = [], to = [], inputShapes } = options
  const inputs = inputFacts(model, inputShapes)
  const known = (of: Model): Propagation => propagate(bind(of, registry), { inputs })
  const changed: Change[] = []
  let edited = model
  if (from.length > 0 || to.length > 0) {
    const { facts } = known(model)
    edited = extract(model, from, to, id => {
      const fact = facts.get(id)
      return fact && declaredIn(model.dialect, declarationOf(fact))
    })
  }
  const apply = (step: { model: Model; changed: readonly Change[] }): void => {
    edited = step.model
    changed.push(...step.changed)
  }
  if (options.opset !== undefined) apply(moveToOpset(edited, options.opset, registry, conversions))
  if (options.simplify) apply(simplify(edited, known(edited)))
  if (options.half) apply(halveWeights(edited))
  if (options.inferShapes || inputs.size > 0) apply(declareInferred(edited, known(edited)))
  return { model: edited.graph === model.graph ? edited : withOwnConstants(edited), changed }
}

/** Before version 4 of ONNX's IR every initializer is an input too; those that edits make are not. */
function withOwnConstants(model: Model): Model {
  const { dialect, irVersion, graph } = model
  if (dialect !== 'onnx' || irVersion >= OWN_CONSTANTS) return model
  const inputs = new Set(graph.inputs.map(({ value }) => value))
  const isOwn = [...graph.initializers.keys()].some(name => !inputs.has(name))
  return isOwn ? derive(model, { irVersion: OWN_CONSTANTS }) : model
}

/** A model in which every declaration that cannot be true is replaced by what is inferred. */
export const fixDeclarations = (model: Model, registry: Registry): Edited =>
  declareInferred(model, propagate(bind(model, registry)), { falseOnly: true })
