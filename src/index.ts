/** `nodewise`: everything, with all operators. */
import { bind } from './bind/bind.ts'
import type { OpListing } from './bind/registry.ts'
import { registryWith } from './built-in.ts'
import { check as checkModel, type CheckOptions as OptionsOfCheck } from './check/check.ts'
import { CODES } from './check/codes.ts'
import type { CheckResult } from './check/result.ts'
import { type Comparand, compareValues, type CompareOptions as OptionsOfCompare } from './compare/compare.ts'
import type { Comparison } from './compare/result.ts'
import { compareStructure as compareStructures, type StructureComparison } from './compare/structure.ts'
import { convertModel, type ConvertOptions as OptionsOfConvert } from './convert/convert.ts'
import { type Edited, fixDeclarations } from './convert/edits/edit.ts'
import { NodewiseError } from './errors.ts'
import { bytesSource } from './files/byte-source.ts'
import type { Finding, Model } from './graph/graph.ts'
import {
  checkPropagateOptions,
  type PropagateOptions as OptionsOfPropagate,
  propagate as propagateModel,
  type Propagation
} from './infer/propagate.ts'
import { tensorFromJson } from './io/json-tensor.ts'
import { parseJsonExact } from './io/json-text.ts'
import { load, loadModel, type LoadOptions, type ModelSource } from './load.ts'
import { loadOnnxText } from './onnx/syntax/load.ts'
import type { PrintOptions } from './onnx/syntax/print-values.ts'
import { printModel as printLines } from './onnx/syntax/print.ts'
import { encodeText } from './onnx/text.ts'
import type { Op } from './op-kit/define.ts'
import { ALL_CONVERSIONS } from './ops/conversions.ts'
import type { Feeds } from './runtime/feeds.ts'
import { type SessionOptions as OptionsOfSession, Session } from './runtime/session.ts'
import type { DType } from './tensor/dtype.ts'
import { Tensor } from './tensor/tensor.ts'

export * from './entries/kit.ts'
export type { Comparand } from './compare/compare.ts'
export type { Edited } from './convert/edits/edit.ts'
export type { Change } from './convert/edits/nodes.ts'
export { filesOf as modelFiles } from './convert/formats.ts'
export type { FileOptions, ModelFiles } from './convert/formats.ts'
export type { OutputFile } from './files/output.ts'
export { readNpy, writeNpy } from './io/npy.ts'
export { readNpz, writeNpz } from './io/npz.ts'
export type { ReadNpzOptions } from './io/npz.ts'
export { decodeTensorProto as readTensorProto } from './onnx/values.ts'
export type { PrintOptions } from './onnx/syntax/print-values.ts'
export type { Closeness, Distance } from './compare/measure.ts'
export type { Recording } from './compare/recorded.ts'
export type { StructuralChange, StructuralDifference, StructureComparison, StructureNode } from './compare/structure.ts'
export type {
  ComparedOutput,
  ComparedPair,
  ComparedValue,
  Comparison,
  FirstDifference,
  ValueStatistics
} from './compare/result.ts'

/** Operators of the caller's own. */
export interface OwnOps {
  /** Operators beside the built-in ones; they win over built-in ones of the same type. */
  readonly ops?: readonly Op[]
}

/** What a session is created with. */
export type SessionOptions = OptionsOfSession & OwnOps
/** What is checked, and how strictly. */
export type CheckOptions = OptionsOfCheck & OwnOps
/** What is known before facts are worked out. */
export type PropagateOptions = OptionsOfPropagate & OwnOps

/** A model that is ready to run, as in `onnxruntime-common`. Runs of one session are independent of each other. */
export class InferenceSession extends Session {
  /** Makes a loaded model ready to run. */
  constructor(model: Model, { ops, ...options }: SessionOptions = {}) {
    super(model, registryWith(ops), options)
  }

  /**
   * Loads a model and makes it ready to run.
   * @param source a path, a URL, bytes, or `{ xml, bin }`
   * @throws NodewiseError (as a rejection) what {@link load} throws
   */
  static async create(source: ModelSource, options: SessionOptions & LoadOptions = {}): Promise<InferenceSession> {
    return new InferenceSession(await loadModel(source, options), options)
  }
}

/**
 * Holds what a model declares against what follows from its inputs, constants and attributes.
 * @throws NodewiseError `unexpected-input` when `inputShapes` names no input, `limit-exceeded` when function calls
 *   expand beyond the limits
 */
export const check = (model: Model, { ops, ...options }: CheckOptions = {}): CheckResult =>
  checkModel(model, registryWith(ops), options)

/** How two models are compared. */
export type CompareOptions = OptionsOfCompare & OwnOps

/**
 * Runs two models of either dialect on the same inputs, node by node and in step, and tells where their values part. In
 * place of either there may be values that were recorded, from any runtime.
 * @param feeds inputs by the names that they have in `a`; `b` gets them by name, else by position. Where `a` was
 *   recorded, by the names that they have in `b`
 * @throws NodewiseError (as a rejection) what a run and reading a recording throw; `unexpected-input` where an input
 *   has no place in `b`, and where nothing has the name of a recorded value
 */
export const compare = (
  a: Comparand,
  b: Comparand,
  feeds: Feeds,
  { ops, ...options }: CompareOptions = {}
): Promise<Comparison> => compareValues([a, b], registryWith(ops), feeds, options)

/** What a code of a finding means: a sentence or two, in Markdown. */
export const meaningOf = (code: Finding['code']): string => CODES[code][0]

/**
 * A model in which every declaration that cannot be true is replaced by what is inferred, as `nodewise check --fix`
 * writes it.
 */
export const fix = (model: Model, { ops }: OwnOps = {}): Edited => fixDeclarations(model, registryWith(ops))

/**
 * A tensor from a JSON literal, as `nodewise run --input` takes it: `[[1, 2], [3, 4]]`, `"a"`, or `{type, dims, data}`.
 * @param type of the elements; without it as the literal tells
 * @throws NodewiseError `invalid-file`, `type-mismatch`, `shape-mismatch`
 */
export const parseTensor = (text: string, type?: DType): Tensor =>
  tensorFromJson(parseJsonExact(text), type === undefined ? {} : { type })

/** How a model is converted and edited. */
export type ConvertOptions = OptionsOfConvert & OwnOps

/**
 * Says a model in the other dialect or in another operator set, and edits it, as `nodewise convert` does. What is not
 * changed stays what it is in the file; `modelFiles` gives the files of the result.
 * @throws NodewiseError `unsupported-op` where nodes that outputs need cannot be said; `details.nodes` has the reasons.
 *   `bad-usage` for names that are no values
 */
export const convert = (model: Model, { ops, ...options }: ConvertOptions = {}): Edited =>
  convertModel(model, registryWith(ops), ALL_CONVERSIONS, options)

/**
 * An ONNX model in the text format of ONNX (`.onnxtxt`), which `onnx.parser` reads.
 * @throws NodewiseError what reading the constants throws
 */
export const printModel = (model: Model, options?: PrintOptions): string => [...printLines(model, options)].join('\n')

/**
 * Reads a model in the text format of ONNX.
 * @param name of the file, for messages
 * @throws NodewiseError `invalid-file` with line and column
 */
export const parseModel = (text: string, name = 'model.onnxtxt'): Model =>
  loadOnnxText(bytesSource(name, encodeText(text)), { file: name })

/**
 * Compares what two models say, without running them: nodes, attributes, weights, declared types and dims.
 * @param options `values`: names of values of `a` with names of values of `b`, where names do not tell
 */
export const compareStructure = (
  a: Model,
  b: Model,
  { ops, values }: OwnOps & Pick<OptionsOfCompare, 'values'> = {}
): StructureComparison => compareStructures([a, b], registryWith(ops), values)

/**
 * Works out a fact for every value of a model: type, symbolic shape and, where it can be known, the value itself.
 * @throws NodewiseError `limit-exceeded` when function calls expand beyond the limits; what is wrong with nodes is in
 *   `failures`
 */
export const propagate = (model: Model, { ops, ...options }: PropagateOptions = {}): Propagation => {
  checkPropagateOptions(options)
  return propagateModel(bind(model, registryWith(ops)), options)
}

/** Every operator that is built in, an entry for each change of meaning. */
export const supportedOps = (): OpListing[] => registryWith().list()

/**
 * What programs use that import the package as a whole, as they do with `onnxruntime-web`.
 * @hidden
 */
export default { InferenceSession, NodewiseError, Tensor, check, compare, load, propagate, supportedOps }
