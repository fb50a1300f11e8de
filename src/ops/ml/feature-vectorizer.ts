import { fail } from '../../errors.ts'
import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { ints, optional } from '../../op-kit/sources.ts'
import { addDims, type Dim, meetDims, printDim, productOf, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

interface Params {
  /** Columns of the result for each input; undefined: as many as the input has. */
  sizes: readonly number[] | undefined
}

/** Rules of {@link featureVectorizer}. */
export const featureVectorizerRules = defineRules({
  name: 'FeatureVectorizer',
  operands: { inputs: 'variadic' },
  params: params<Params>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { sizes: optional(ints('inputdimensions')) } }],

  shape({ inputs }, { sizes }) {
    if (sizes && sizes.length !== inputs.length)
      fail('wrong-input-count', `there are ${inputs.length} inputs; inputdimensions has ${sizes.length} sizes`)
    let rows: Dim | undefined
    let columns: Dim = 0
    for (const [i, input] of inputs.entries()) {
      checkRankAtLeast(`input ${i}`, input, 1)
      const matrix = input.shape && asMatrix(input.shape)
      if (matrix) rows = meetRows(rows ?? matrix.rows, matrix.rows, i)
      const size = sizes ? sizes[i] : (matrix?.columns ?? unknownDim())
      if (typeof size === 'number' && size < 0)
        fail('unknown-attribute-value', `inputdimensions has ${size} for input ${i}; 0 or more is expected`)
      columns = addDims(columns, size)
    }
    return [tensorFact('float32', [rows ?? unknownDim(), columns])]
  }
})

/**
 * Puts the rows of matrices side by side, as float32. An input has as many columns in the result as the attribute says:
 * zeros follow where it has fewer, and what it has beyond is left out. A vector is one row, and axes beyond the second
 * are flattened into it, both as in ONNX Runtime, which refuses a node without the attribute. ai.onnx.ml
 * FeatureVectorizer-1.
 */
export const featureVectorizer = /* @__PURE__ */ withKernel(featureVectorizerRules, {
  *run({ inputs }, { sizes }, call) {
    const out = call.output()
    let offset = 0
    for (const [i, input] of inputs.entries()) {
      const width = input.dims.length === 1 ? input.dims[0] : product(input.dims.slice(1))
      const size = sizes ? sizes[i] : width
      yield* copyStrided(
        yield* convertedPaced(input, 'float32'),
        out,
        [
          { count: out.dims[0], from: width, to: out.dims[1] },
          { count: Math.min(width, size), from: 1, to: 1 }
        ],
        0,
        offset
      )
      offset += size
    }
  }
})

const asMatrix = (shape: readonly Dim[]): { rows: Dim; columns: Dim } =>
  shape.length === 1 ? { rows: 1, columns: shape[0] } : { rows: shape[0], columns: productOf(shape.slice(1)) }

const meetRows = (before: Dim, own: Dim, i: number): Dim =>
  meetDims(before, own) ??
  fail('dims-mismatch', `input ${i} has ${printDim(own)} rows, those before it ${printDim(before)}`)
