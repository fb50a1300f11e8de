import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { type DataDependent, defineOp, type Op, params, type RunParams } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputFloat, inputInt, type } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { addDims, type Dim, floorDivDims, maxDim, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sizesOf } from '../../shapes/lists.ts'
import type { DType } from '../../tensor/dtype.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'

interface WindowParams {
  size: DataDependent<number>
  type: DType
  periodic: boolean
}

/**
 * ONNX HannWindow-17, HammingWindow-17, BlackmanWindow-17: weighted sums of cosines of multiples of `2πi/n`, in double
 * precision. A periodic window of `size` is a symmetric window of `size + 1` without its last element. A symmetric
 * window of one element is NaN, as the specification's function gives it.
 */
export const windowOps: readonly Op[] = [
  windowOp('HannWindow', [0.5, -0.5]),
  windowOp('HammingWindow', [25 / 46, -21 / 46]),
  windowOp('BlackmanWindow', [0.42, -0.5, 0.08])
]

function windowOp(name: string, weights: readonly number[]): Op {
  return defineOp({
    name,
    operands: {},
    params: params<WindowParams>(),
    onnx: [{ since: 17, bind: { size: inputInt(0), type: type('output_datatype'), periodic: flag('periodic') } }],

    shape(_, p) {
      checkNumeric(p.type)
      return [tensorFact(p.type, sizesOf([p.size], 'the size'))]
    },

    *run(_, p, call) {
      const out = call.output()
      // Integer types are truncated from float32, in which the highest element is exactly 1.
      const values = isWideFloat(out) ? out : allocate('float32', out.dims)
      const points = p.periodic ? p.size : p.size - 1
      yield* inChunks(
        p.size,
        (from, to) => {
          for (let i = from; i < to; i++) {
            let sum = weights[0]
            for (let k = 1; k < weights.length; k++) sum += weights[k] * Math.cos((2 * Math.PI * k * i) / points)
            values.data[i] = sum
          }
        },
        32 * COST.element
      )
      if (values !== out) yield* convertPaced(values, out)
    }
  })
}

/** Whether a tensor takes numbers as they are computed, rounded once. */
const isWideFloat = (out: Tensor): out is Tensor<'float32' | 'float64'> =>
  out.type === 'float32' || out.type === 'float64'

function checkNumeric(type: DType): void {
  if (!NUMERIC.includes(type)) fail('type-not-allowed', `output_datatype is ${type}; a numeric type is expected`)
}

interface MelParams {
  bands: DataDependent<number>
  /** Length of the transform whose elements are weighted. */
  length: DataDependent<number>
  sampleRate: DataDependent<number>
  lower: DataDependent<number>
  upper: DataDependent<number>
  type: DType
}

/** Rules of {@link melWeightMatrix}. */
export const melWeightMatrixRules = defineRules({
  name: 'MelWeightMatrix',
  operands: {},
  params: params<MelParams>(),
  onnx: [
    {
      since: 17,
      bind: {
        bands: inputInt(0),
        length: inputInt(1),
        sampleRate: inputInt(2),
        lower: inputFloat(3),
        upper: inputFloat(4),
        type: type('output_datatype')
      }
    }
  ],

  shape(_, p) {
    checkNumeric(p.type)
    if (maxDim(p.sampleRate) < 1)
      fail('value-out-of-range', `the sample rate is ${printDim(p.sampleRate)}; expected at least 1`)
    const [bands, length] = sizesOf([p.bands, p.length], 'the number of bands and the length of the transform')
    return [tensorFact(p.type, [binsOf(length), bands])]
  }
})

/**
 * Triangular filters over the elements of a spectrum, for bands of equal width on the mel scale,
 * `2595 log10(1 + f / 700)`. ONNX MelWeightMatrix-17. Edges are as in the specification's reference: rounded down to
 * indices of the spectrum, with the scale cut into `bands + 2` steps of which the last is not used.
 */
export const melWeightMatrix = /* @__PURE__ */ withKernel(melWeightMatrixRules, {
  *run(_, p, call) {
    const out = call.output()
    const weights = isWideFloat(out) ? out : allocate('float64', out.dims)
    const [bins, bands] = out.dims
    const edges = edgesOf(p)
    if (bands > 0) checkEdges(edges, bins)
    const pace = new Pace()
    for (let band = 0; band < bands; band++) {
      const [from, peak, to] = edges.slice(band, band + 3)
      if (from === peak) weights.data[peak * bands + band] = 1
      for (let i = from; i <= peak && from < peak; i++) weights.data[i * bands + band] = (i - from) / (peak - from)
      for (let i = peak; i < to; i++) weights.data[i * bands + band] = (to - i) / (to - peak)
      if (pace.isDue((to - from + 1) * COST.element)) yield
    }
    if (weights !== out) yield* convertPaced(weights, out)
  }
})

const binsOf = (length: Dim): Dim => addDims(floorDivDims(length, 2), 1)

/** Indices in the spectrum at which the triangles begin, peak and end. */
function edgesOf({ bands, length, sampleRate, lower, upper }: Omit<RunParams<MelParams>, 'type'>): Float64Array {
  const mel = (frequency: number): number => (2595 * Math.log1p(frequency / 700)) / Math.LN10
  const low = mel(lower)
  const step = (mel(upper) - low) / (bands + 2)
  const hertz = (mels: number): number => 700 * Math.expm1((mels / 2595) * Math.LN10)
  return Float64Array.from({ length: bands + 2 }, (_, i) =>
    Math.floor(((length + 1) * hertz(low + i * step)) / sampleRate)
  )
}

/** @throws NodewiseError `value-out-of-range` where a triangle exceeds the spectrum */
function checkEdges(edges: Float64Array, bins: number): void {
  const last = edges.length - 1
  const isInside = edges.every((edge, i) => edge >= 0 && edge < (i === last ? bins + 1 : bins))
  if (!isInside)
    fail('value-out-of-range', `the bands reach from number ${edges[0]} to ${edges[last]} of a spectrum of ${bins}`)
}
