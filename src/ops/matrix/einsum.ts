import { fail } from '../../errors.ts'
import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { BIG_INTEGERS, einsum as contract, DOUBLES, type Labelled } from '../../kernels/matrix/einsum.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { mapped, text } from '../../op-kit/sources.ts'
import { commonType, numbered } from '../../op-kit/types.ts'
import { broadcastDim, type Dim, meetDims, printDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { stridesOf, Tensor } from '../../tensor/tensor.ts'

interface Params {
  equation: Equation
}

/** A term for each operand, which is a list of labels; `...` stands for the dims that have no label. */
interface Equation {
  readonly terms: readonly (readonly string[])[]
  /** Undefined in implicit mode, where the operands' labels determine it. */
  readonly output: readonly string[] | undefined
}

const equation = mapped(text('equation'), parseEquation)

/**
 * Einstein summation. Dims with the same label, and those under `...`, are broadcast by NumPy's rules; a label that an
 * operand has twice selects its diagonal. Without `->` the result has the dims of `...` and then, in ASCII order, the
 * labels that occur once. Dims of `...` that the result does not name are summed over. Floats are summed in double
 * precision, integers wrap. ONNX Einsum-12; OpenVINO Einsum-7.
 */
export const einsum = defineOp({
  name: 'Einsum',
  operands: { inputs: 'variadic' },
  params: params<Params>(),
  onnx: [{ since: 12, bind: { equation } }],
  openvino: [{ since: 7, bind: { equation } }],

  shape({ inputs }, p) {
    const { terms } = p.equation
    if (terms.length !== inputs.length) {
      fail('wrong-input-count', `the equation has ${terms.length} terms; ${inputs.length} operands are given`)
    }
    const type = commonType(numbered('operand', inputs))
    const shapes = inputs.map(({ shape }: TensorFact) => shape)
    if (shapes.includes(undefined)) return [tensorFact(type, undefined)]
    const labels = labelDims(terms, shapes as (readonly Dim[])[])
    const sizes = labelSizes(labels, shapes as (readonly Dim[])[])
    return [
      tensorFact(
        type,
        outputLabels(p.equation, labels).map(label => sizes.get(label) ?? 1)
      )
    ]
  },

  *run({ inputs }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const shapes = inputs.map(({ dims }) => dims)
    const labels = labelDims(p.equation.terms, shapes)
    const sizes = labelSizes(labels, shapes) as Map<string, number>
    const output = outputLabels(p.equation, labels)
    const labelled = function* <A extends Float64Array | BigInt64Array>(
      type: 'float64' | 'int64'
    ): Generator<void, Labelled<A>[]> {
      const operands: Labelled<A>[] = []
      for (const [i, input] of inputs.entries()) {
        const { data } = yield* convertedPaced(input, type)
        operands.push({
          data: data as A,
          labels: labels[i],
          strides: stridesOf(input.dims).map((stride, axis) => (input.dims[axis] === 1 ? 0 : stride))
        })
      }
      return operands
    }
    if (isFloat(out.type)) {
      yield* convertPaced(
        new Tensor(
          'float64',
          yield* contract<Float64Array>(yield* labelled('float64'), output, sizes, DOUBLES),
          out.dims
        ),
        out
      )
    } else {
      yield* convertPaced(
        new Tensor(
          'int64',
          yield* contract<BigInt64Array>(yield* labelled('int64'), output, sizes, BIG_INTEGERS),
          out.dims
        ),
        out
      )
    }
  }
})

const ELLIPSIS = '...'

function parseEquation(written: string): Equation {
  const [left, right, ...more] = written.replaceAll(' ', '').split('->')
  if (more.length > 0) fail('unknown-attribute-value', `equation "${written}" has more than one arrow`)
  const terms = left.split(',').map(term => parseTerm(term, written))
  if (right === undefined) return { terms, output: undefined }
  const output = parseTerm(right, written)
  const known = new Set(terms.flat())
  for (const label of output) {
    if (!known.has(label) && label !== ELLIPSIS) {
      fail('unknown-attribute-value', `equation "${written}": label "${label}" of the result is in no operand`)
    }
  }
  if (new Set(output).size !== output.length)
    fail('unknown-attribute-value', `equation "${written}": the result names a label twice`)
  return { terms, output }
}

function parseTerm(term: string, written: string): string[] {
  const labels = term.match(/\.\.\.|[A-Za-z]/g) ?? []
  if (labels.join('') !== term || labels.filter(label => label === ELLIPSIS).length > 1) {
    fail('unknown-attribute-value', `equation "${written}": "${term}" is no list of letters with at most one ellipsis`)
  }
  return labels
}

/** A label for each dim; those under an ellipsis are numbered from the right: `.1` is the last of them. */
function labelDims(terms: readonly (readonly string[])[], shapes: readonly (readonly Dim[])[]): string[][] {
  return terms.map((term, i) => {
    const rank = shapes[i].length
    const covered = rank - term.filter(label => label !== ELLIPSIS).length
    if (covered < 0 || (covered > 0 && !term.includes(ELLIPSIS))) {
      fail('rank-mismatch', `operand ${i} has rank ${rank}; its term "${term.join('')}" names ${rank - covered} dims`)
    }
    return term.flatMap(label =>
      label === ELLIPSIS ? Array.from({ length: covered }, (_, k) => `.${covered - k}`) : [label]
    )
  })
}

function outputLabels({ output }: Equation, labels: readonly (readonly string[])[]): string[] {
  const all = labels.flat()
  const covered = [...new Set(all.filter(label => label.startsWith('.')))].sort(
    (a, b) => Number(b.slice(1)) - Number(a.slice(1))
  )
  const once = output ?? [
    ELLIPSIS,
    ...all.filter(label => !label.startsWith('.') && all.indexOf(label) === all.lastIndexOf(label)).sort()
  ]
  return once.flatMap(label => (label === ELLIPSIS ? covered : [label]))
}

/** The size of each label: dims of one operand with the same label must be equal, those of several are broadcast. */
function labelSizes(labels: readonly (readonly string[])[], shapes: readonly (readonly Dim[])[]): Map<string, Dim> {
  const sizes = new Map<string, Dim>()
  labels.forEach((own, i) => {
    const ofOperand = new Map<string, Dim>()
    own.forEach((label, axis) => join(ofOperand, label, shapes[i][axis], meetDims))
    for (const [label, dim] of ofOperand) join(sizes, label, dim, broadcastDim)
  })
  return sizes
}

function join(sizes: Map<string, Dim>, label: string, dim: Dim, merge: (a: Dim, b: Dim) => Dim | undefined): void {
  const before = sizes.get(label) ?? dim
  sizes.set(
    label,
    merge(before, dim) ?? fail('shape-mismatch', `label "${label}" has sizes ${printDim(before)} and ${printDim(dim)}`)
  )
}
