/**
 * `nodewise`: everything, with all operators. It only names what is in other modules: some bundlers, such as Next's,
 * keep a module of code with all that it imports.
 */
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
export type { OwnOps } from './entries/all/own-ops.ts'
export { check } from './entries/all/check.ts'
export type { CheckOptions } from './entries/all/check.ts'
export { compareStructure } from './entries/all/compare-structure.ts'
export { compare } from './entries/all/compare.ts'
export type { CompareOptions } from './entries/all/compare.ts'
export { convert } from './entries/all/convert.ts'
export type { ConvertOptions } from './entries/all/convert.ts'
export { default } from './entries/all/default.ts'
export { fix } from './entries/all/fix.ts'
export { meaningOf } from './entries/all/meaning.ts'
export { parseTensor } from './entries/all/parse-tensor.ts'
export { propagate } from './entries/all/propagate.ts'
export type { PropagateOptions } from './entries/all/propagate.ts'
export { InferenceSession } from './entries/all/session.ts'
export type { SessionOptions } from './entries/all/session.ts'
export { supportedOps } from './entries/all/supported-ops.ts'
export { parseModel, printModel } from './entries/all/text.ts'
export { htmlReport } from './report/report.ts'
export type { ReportParts, ReportTable } from './report/report.ts'
