import { elementwise, expanded, gathered, reduced, unsqueezed } from '../../op-kit/conversion-kit.ts'
import {
  add,
  byRootMeanSquare,
  div,
  mul,
  normalizedFrom,
  normalizedLast,
  rootMeanSquare,
  widened,
  withAdded
} from '../../op-kit/conversion-parts.ts'
import { counted, reshapedBy, sizeAt, sizeList, sizesOf } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { embedLayerNormalization } from './embed-layer-normalization.ts'
import { branchwiseRmsNorm, gatedRmsNorm } from './gated-rms-norm.ts'
import { rmsNormalization } from './layer-normalization.ts'
import { skipLayerNormalization } from './skip-layer-normalization.ts'

/** Divided by the root mean square over the axes from one on; its reciprocal is another result. */
function expandRms(call: SourceCall, w: Writer): readonly Made[] {
  const [x, scale] = [call.operand('x'), call.operand('scale')]
  const wide = widened(w, x)
  const axis = normalizeAxis(call.param('axis'), rankOf(x))
  const root = rootMeanSquare(w, wide, axis, call.param('epsilon'))
  const y = mul(w, w.cast(div(w, wide, root), typeOf(scale)), scale)
  return call.outputCount > 1 ? [y, div(w, w.scalar(typeOf(root), 1), root)] : [y]
}

/** The sum of the operands, normalized along the last axis, scaled and shifted. */
function expandSkip(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const own = typeOf(call.operand('x'))
  const [x, skip] = ['x', 'skip'].map(name => widened(w, call.operand(name)))
  const sum = withAdded(w, add(w, x, skip), call.optional('bias'))
  const [axis, epsilon] = [rankOf(sum) - 1, call.param<number>('epsilon')]
  const scale = widened(w, call.operand('scale'))
  const centers = call.param<boolean>('centers')
  const isAsked = [1, 2].some(index => call.wanted(index))
  const parts = isAsked && centers ? normalizedFrom(w, sum, axis, epsilon) : undefined
  const root = isAsked && !centers ? rootMeanSquare(w, sum, axis, epsilon) : undefined
  const y = parts?.y ?? (root ? div(w, sum, root) : undefined)
  const normalized = y ?? (centers ? normalizedLast(w, sum, epsilon) : byRootMeanSquare(w, sum, axis, epsilon))
  const scaled = withAdded(w, mul(w, normalized, scale), call.optional('shift'))
  const inverse = parts?.inverse ?? (root && div(w, w.scalar(typeOf(root), 1), root))
  return [w.cast(scaled, own), parts?.mean, inverse, w.cast(sum, own)].slice(0, call.outputCount)
}

/** Tables of words, positions and segments of an embedding, as numbers, with the factors of its normalization. */
export interface Embedding {
  rows(name: 'words' | 'positions' | 'segments', ids: Made): Made
  readonly gamma: Made
  readonly beta: Made
}

/** The sum of the rows of a word, a position and a segment, normalized, scaled and shifted. */
export function embedded(call: SourceCall, w: Writer, { rows, gamma, beta }: Embedding): readonly Made[] {
  const ids = call.operand('inputIds')
  const positions = call.optional('positionIds') ?? unsqueezed(w, counted(w, 0, sizeAt(w, ids, 1)), [0])
  const placed = add(w, rows('words', ids), rows('positions', positions))
  const segments = call.optional('segmentIds') ?? w.constant('int64', [0], [1, 1])
  const sum = call.has('segments') ? add(w, placed, rows('segments', segments)) : placed
  const y = add(w, mul(w, normalizedLast(w, sum, call.param('epsilon')), gamma), beta)
  return [y, ...(call.outputCount > 1 ? [countOfOnes(call, w)] : []), sum].slice(0, call.outputCount)
}

/** The number of ones in the mask of each entry of the batch; 0 without a mask. */
function countOfOnes(call: SourceCall, w: Writer): Made {
  const mask = call.optional('mask')
  if (mask === undefined)
    return expanded(w, w.scalar('int32', 0), sizeList(w, [sizeAt(w, call.operand('inputIds'), 0)]))
  const isOne = elementwise(w, 'Equal', mask, w.scalar(typeOf(mask), 1))
  return reduced(w, 'ReduceSum', w.cast(isOne, 'int32'), [1], false)
}

function expandEmbed(call: SourceCall, w: Writer): readonly Made[] {
  const own = typeOf(call.operand('words'))
  const rows: Embedding['rows'] = (name, ids) => widened(w, gathered(w, call.operand(name), ids, 0))
  const [gamma, beta] = ['gamma', 'beta'].map(name => widened(w, call.operand(name)))
  return embedded(call, w, { rows, gamma, beta }).map((result, i) => (i === 1 ? result : w.cast(result, own)))
}

/** Groups of the last axis normalized by their root mean square, and multiplied by an activation of the gate. */
function expandGated(call: SourceCall, w: Writer): readonly Made[] {
  const [x, scale, gate] = ['x', 'scale', 'gate'].map(name => widened(w, call.operand(name)))
  const [width, columns] = knownSizes('the size of groups', dimsOf(scale)[0], dimsOf(x).at(-1))
  const groups = w.reshape(x, [-1, columns / width, width])
  const y = reshapedBy(w, mul(w, byRootMeanSquare(w, groups, 2, call.param('epsilon')), scale), sizesOf(w, x))
  const sigmoid = elementwise(w, 'Sigmoid', gate)
  const factor = call.attribute('activation') === 'sigmoid' ? sigmoid : mul(w, gate, sigmoid)
  return [w.cast(mul(w, y, factor), typeOf(call.operand('x')))]
}

/** Rows of branches normalized by their root mean square; a scale is one row for all, or one for each. */
function expandBranches(call: SourceCall, w: Writer): readonly Made[] {
  const x = widened(w, call.operand('x'))
  const branches = call.param<number>('branches')
  const own = branches > 0 ? branches : dimsOf(x).at(-2)
  const [count, columns] = knownSizes('the size of branches', own, dimsOf(x).at(-1))
  const size = branches > 0 ? columns / branches : columns
  const rows = w.reshape(x, [-1, count, size])
  const y = byRootMeanSquare(w, rows, 2, call.param('epsilon'))
  const scale = call.optional('scale')
  const isOneRow = scale !== undefined && dimsOf(scale).length === 1 && dimsOf(scale)[0] === size
  const scaled = scale ? mul(w, y, w.reshape(widened(w, scale), isOneRow ? [size] : [count, size])) : y
  return [w.cast(reshapedBy(w, scaled, sizesOf(w, x)), typeOf(call.operand('x')))]
}

/** Normalizations of com.microsoft, and RMSNormalization. */
export const fusedNormalizationRules: readonly Conversion[] = [
  ...expands(rmsNormalization, expandRms),
  ...expands(skipLayerNormalization, expandSkip),
  ...expands(embedLayerNormalization, expandEmbed),
  ...expands(gatedRmsNorm, expandGated),
  ...expands(branchwiseRmsNorm, expandBranches)
]
