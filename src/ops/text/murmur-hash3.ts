import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { murmurOfText, murmurOfWords } from '../../kernels/text/murmur-hash3.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { DTYPES } from '../../tensor/dtype.ts'

interface Params {
  seed: number
  /** Whether hashes are unsigned. */
  positive: boolean
}

/** Rules of {@link murmurHash3}. */
export const murmurHash3Rules = defineRules({
  name: 'MurmurHash3',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { seed: int('seed'), positive: flag('positive') } }],
  shape: ({ x }, { positive }) => [tensorFact(positive ? 'uint32' : 'int32', x.shape)]
})

/**
 * MurmurHash3 (x86, 32 bits) of each element: of its bytes in little-endian order, of a string as UTF-8. com.microsoft
 * MurmurHash3-1.
 */
export const murmurHash3 = /* @__PURE__ */ withKernel(murmurHash3Rules, {
  *run({ x }, { seed }, call) {
    const out = call.rawOutput().data as Int32Array
    if (x.type === 'string') {
      const texts = x.data as readonly string[]
      const pace = new Pace()
      for (let i = 0; i < out.length; i++) {
        out[i] = murmurOfText(texts[i], seed)
        if (pace.isDue(COST.allocation + texts[i].length * COST.element)) yield
      }
      return
    }
    const { buffer, byteOffset, byteLength } = x.data
    const words = new Int32Array(buffer, byteOffset, byteLength / 4)
    const perElement = DTYPES[x.type].bits / 32
    yield* inChunks(out.length, (from, to) => {
      for (let i = from; i < to; i++) out[i] = murmurOfWords(words, i * perElement, perElement, seed)
    })
  }
})
