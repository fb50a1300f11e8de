import { gathered } from '../../op-kit/conversion-kit.ts'
import { multiplied, withAdded } from '../../op-kit/conversion-parts.ts'
import { type Conversion, expands, type Made, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { attendProjection } from '../attention/multi-head-conversions.ts'
import { embedded } from '../normalization/fused-conversions.ts'
import { qattention } from './qattention.ts'
import { qembedLayerNormalization } from './qembed-layer-normalization.ts'
import { dequantized } from './qlinear-conversions.ts'

function expandQAttention(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const numbers = (name: string): Made =>
    dequantized(
      w,
      call.operand(name === 'input' ? 'input' : 'weights'),
      call.operand(`${name}Scale`),
      call.optional(`${name}Zero`),
      1
    )
  const bias = call.operand('bias')
  const projected = withAdded(w, multiplied(w, numbers('input'), numbers('weight')), bias)
  const results = attendProjection(call, w, projected)
  return results.slice(0, call.outputCount).map(result => result && w.cast(result, typeOf(bias)))
}

/** Rows are looked up as codes. */
function expandQEmbed(call: SourceCall, w: Writer): readonly Made[] {
  const numbers = (name: string, codes: Made): Made =>
    dequantized(w, codes, call.operand(`${name}Scale`), call.optional(`${name}Zero`))
  const [gamma, beta] = ['gamma', 'beta'].map(name => numbers(name, call.operand(name)))
  const rows = (name: string, ids: Made): Made => numbers(name, gathered(w, call.operand(name), ids, 0))
  const own = typeOf(call.operand('wordsScale'))
  return embedded(call, w, { rows, gamma, beta }).map((result, i) => (i === 1 ? result : w.cast(result, own)))
}

/** Attention and embeddings of com.microsoft on codes. */
export const quantizedAttentionRules: readonly Conversion[] = [
  ...expands(qattention, expandQAttention),
  ...expands(qembedLayerNormalization, expandQEmbed)
]
