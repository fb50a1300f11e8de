import { channelsFirstDims } from '../../op-kit/channels-last.ts'
import { activated } from '../../op-kit/conversion-activations.ts'
import {
  elementwise,
  expanded,
  extreme,
  gathered,
  joined,
  reduced,
  restored,
  sliced,
  squeezed,
  staticDims,
  transposed,
  unsqueezed,
  upTo
} from '../../op-kit/conversion-kit.ts'
import { ownAttributes, part, sigmoidWeighted, widened, withAdded } from '../../op-kit/conversion-parts.ts'
import { listParameter, type Size, sizeAt, sizeList, subSizes } from '../../op-kit/conversion-sizes.ts'
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
import { causalConv } from './causal-conv.ts'
import { convTranspose } from './conv-transpose.ts'
import { fusedConv } from './fused-conv.ts'
import { nhwcConv } from './nhwc-conv.ts'
import { wordConvEmbedding } from './word-conv-embedding.ts'

const CONV = ['kernel_shape', 'strides', 'pads', 'auto_pad', 'dilations', 'group'] as const
const TRANSPOSE = ['kernel_shape', 'strides', 'dilations', 'group', 'output_padding'] as const

/** A convolution, a tensor that is added, and an activation. */
function expandFused(call: SourceCall, w: Writer): readonly Made[] {
  const operands = ['x', 'w', 'bias'].map(name => call.optional(name))
  const [sums] = w.standard('Conv', operands, ownAttributes(call, CONV))
  return [activated(call, w, withAdded(w, sums, call.optional('residual')))]
}

/** A convolution between permutations that bring the channels to the front and back. */
function expandNhwc(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const order = channelsFirstDims(upTo(rankOf(x)))
  const operands = [transposed(w, x, order), transposed(w, call.operand('w'), order), call.optional('bias')]
  const [y] = w.standard('Conv', operands, ownAttributes(call, CONV))
  return [restored(w, y, order)]
}

/** A convolution of each channel with what came before. */
function expandCausal(call: SourceCall, w: Writer): readonly Made[] {
  const channelsLast = call.param<boolean>('channelsLast')
  const own = typeOf(call.operand('x'))
  const inOrder = (x: Made): Made => (channelsLast ? transposed(w, x, [0, 2, 1]) : x)
  const x = inOrder(widened(w, call.operand('x')))
  const weights = widened(w, call.operand('w'))
  const [channels, , kernel] = staticDims(weights, 'the weights')
  const dilation = call.param<number>('dilation')
  const before = (kernel - 1) * dilation
  const past = call.optional('past')
  const zeros = (): Made => expanded(w, w.scalar(typeOf(x), 0), sizeList(w, [sizeAt(w, x, 0), channels, before]))
  const all = before === 0 ? x : joined(w, [past ? inOrder(widened(w, past)) : zeros(), x], 2)
  const bias = call.optional('bias')
  const attributes = { group: channels, dilations: [dilation] }
  const [sums] = w.standard('Conv', [all, weights, bias && w.cast(bias, typeOf(x))], attributes)
  const y = call.param('activation') === 'silu' ? sigmoidWeighted(w, sums, 1) : sums
  const results = [y]
  if (call.outputCount > 1) {
    const end = sizeAt(w, all, 2)
    results.push(part(w, all, 2, subSizes(w, end, before), end))
  }
  return results.map(each => w.cast(inOrder(each), own))
}

/** Pads that an input gives are cut off what a convolution without pads gives. */
function transposeWithPads(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.source('pads') === undefined || call.knows('pads')) return undefined
  const x = call.operand('x')
  const rank = rankOf(x) - 2
  const [y] = w.standard('ConvTranspose', [x, call.operand('w')], ownAttributes(call, TRANSPOSE))
  const pads = listParameter(call, 'pads', w)
  const axes = upTo(rank, 2)
  const end = sizeList(
    w,
    axes.map((axis, i): Size => subSizes(w, sizeAt(w, y, axis), part(w, pads, 0, rank + i, rank + i + 1)))
  )
  const cut = sliced(w, y, part(w, pads, 0, 0, rank), end, axes)
  const bias = call.optional('bias')
  return [bias ? withAdded(w, cut, w.reshape(bias, [1, -1, ...axes.map(() => 1)])) : cut]
}

/** Words as images of one channel: the filters cover whole rows, and windows behind the end of a word count nothing. */
function expandWords(call: SourceCall, w: Writer): readonly Made[] {
  const [words, filters] = [call.operand('words'), call.operand('filters')]
  const [window, columns] = knownSizes('the sizes of words and windows', dimsOf(filters)[2], dimsOf(words)[1])
  const zero = w.scalar(typeOf(words), 0)
  const isLetter = elementwise(w, 'Greater', words, zero)
  const rows = gathered(w, call.operand('table'), extreme(w, 'Max', words, zero), 0)
  const [sums] = w.standard('Conv', [unsqueezed(w, rows, [1]), filters, call.operand('bias')], {})
  const y = squeezed(w, elementwise(w, 'Tanh', sums), [3])
  const length = reduced(w, 'ReduceSum', w.cast(isLetter, 'int64'), [1], true)
  const end = extreme(w, 'Max', length, w.scalar('int64', window))
  const windows = w.constant('int64', upTo(columns - window + 1, window))
  const isIn = unsqueezed(w, elementwise(w, 'LessOrEqual', windows, end), [1])
  const best = reduced(w, 'ReduceMax', elementwise(w, 'Where', isIn, y, w.scalar(typeOf(y), -1)), [2], false)
  return [elementwise(w, 'Where', part(w, isLetter, 1, 0, 1), best, w.scalar(typeOf(best), 0))]
}

/** Convolutions of com.microsoft, expanded. */
export const fusedConvRules: readonly Conversion[] = [
  ...expands(fusedConv, expandFused),
  ...expands(nhwcConv, expandNhwc),
  ...expands(causalConv, expandCausal),
  ...expands(convTranspose, transposeWithPads),
  ...expands(wordConvEmbedding, expandWords)
]
