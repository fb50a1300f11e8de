import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { type Field, fourier } from '../../kernels/signal/fourier.ts'
import type { AxisTransform, Half } from '../../kernels/signal/lengths.ts'
import { type DataDependent, type Op, params, type ShapeParams } from '../../op-kit/define.ts'
import { defineRules, type OpRules, withKernel } from '../../op-kit/rules.ts'
import { derive, flag, inputInts, int, is, mapped, type NodeFacts, optionalInput } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import {
  addDims,
  asDim,
  type Dim,
  floorDivDims,
  mayMatch,
  minDim,
  mulDims,
  normalizeAxes,
  printDim,
  printShape,
  subDims,
  unknownDim
} from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, sameLengths } from '../../shapes/lists.ts'

interface Params {
  axes: DataDependent<readonly number[]>
  /** Number of points along each of the axes; undefined: the sizes of the input. */
  lengths: DataDependent<readonly number[] | undefined>
  inverse: boolean
  half: Half
  /** Whether the last axis of the input, and of the output, holds real and imaginary parts. */
  partsIn: boolean
  partsOut: boolean
  /** Whether negative axes count that last axis, too. */
  countsParts: boolean
}

const half = derive((node: NodeFacts): Half =>
  !node.get(flag('onesided')) ? 'none' : node.get(flag('inverse')) ? 'in' : 'out'
)
const onnx = {
  lengths: optionalInput(inputInts(1)),
  inverse: flag('inverse'),
  half,
  partsIn: is(true),
  partsOut: is(true),
  countsParts: is(true)
} as const
const openvino = { axes: inputInts(1), lengths: optionalInput(inputInts(2)), countsParts: is(false) } as const
const INDEX = ['int32', 'int64'] as const
const types = { x: FLOATS, axes: INDEX, lengths: INDEX }

/** Rules of {@link dftOps}. */
export const dftRules = (['DFT', 'IDFT', 'RDFT', 'IRDFT'] as const).map(rulesOf)

/**
 * Discrete Fourier transforms of any length. ONNX DFT-17, -20 (the axis became an input, its default the last signal
 * axis); OpenVINO DFT-7, IDFT-7, RDFT-9, IRDFT-9. A half spectrum is truncated or padded with zeros to `length / 2 + 1`
 * elements before it is mirrored, as in NumPy.
 */
export const dftOps: readonly Op[] = /* @__PURE__ */ dftRules.map(rules => withTransform(rules))

function rulesOf(name: 'DFT' | 'IDFT' | 'RDFT' | 'IRDFT'): OpRules<{ x: 'tensor' }, Params> {
  const real = name === 'RDFT' ? 'out' : name === 'IRDFT' ? 'in' : 'none'
  return defineRules<{ x: 'tensor' }, Params>({
    name,
    operands: { x: 'tensor' },
    params: params<Params>(),
    onnx:
      name !== 'DFT'
        ? []
        : [
            { since: 17, bind: { ...onnx, axes: mapped(int('axis'), axis => [axis]) } },
            { since: 20, bind: { ...onnx, axes: inputInts(2, [-2]) } }
          ],
    openvino: [
      {
        since: real === 'none' ? 7 : 9,
        types,
        bind: {
          ...openvino,
          inverse: is(name.startsWith('I')),
          half: is(real),
          partsIn: is(real !== 'out'),
          partsOut: is(real !== 'in')
        }
      }
    ],

    shape({ x }, p, { dialect }) {
      sameLengths({ axes: p.axes, 'the list of lengths': p.lengths })
      if (x.shape === undefined) return [tensorFact(x.type, undefined)]
      if (p.partsIn) checkParts(x.shape, p.half, dialect === 'onnx')
      const signal = p.partsIn ? x.shape.slice(0, -1) : x.shape
      const axes = knownList(p.axes)
      // Whole spectra of as many points as there are have the dims of the input, whatever the axes.
      const keepsDims = p.half === 'none' && p.lengths === undefined
      const unknown = keepsDims ? signal : signal.map(() => unknownDim())
      const dims = axes ? transformed(signal, axesOf(axes, signal.length, p), p) : unknown
      const parts = !p.partsOut ? [] : dialect === 'onnx' && p.half === 'in' ? [1] : [2]
      return [tensorFact(x.type, [...dims, ...parts])]
    }
  })
}

function withTransform(rules: OpRules<{ x: 'tensor' }, Params>): Op {
  return withKernel(rules, {
    *run({ x }, p, call) {
      const out = call.output()
      if (out.data.length === 0) return
      const signal = p.partsIn ? x.dims.slice(0, -1) : x.dims
      const axes = axesOf(p.axes, signal.length, p).map((axis, i): AxisTransform => ({
        axis,
        length: lengthOf(signal[axis], p, i, p.axes.length) as number
      }))
      const target = targetOf(out)
      const partsOf = (dims: readonly number[], has: boolean): 1 | 2 => (has && dims[signal.length] === 2 ? 2 : 1)
      const from: Field = { dims: signal, parts: partsOf(x.dims, p.partsIn), data: yield* readNumbers(x) }
      const to: Field = {
        dims: out.dims.slice(0, signal.length),
        parts: partsOf(out.dims, p.partsOut),
        data: target.numbers
      }
      yield* fourier(from, to, axes, p.inverse, p.half)
      yield* target.finish()
    }
  })
}

/** Checks the last axis of the input: 2 for complex numbers; ONNX also allows 1 for real ones. */
function checkParts(shape: readonly Dim[], half: Half, onnx: boolean): void {
  if (shape.length < 2)
    fail(
      'rank-mismatch',
      `the input has shape ${printShape(shape)}; a signal axis and an axis of real and imaginary part are expected`
    )
  const allowed = !onnx || half === 'in' ? [2] : half === 'out' ? [1] : [1, 2]
  const last = shape[shape.length - 1]
  if (!allowed.some(parts => mayMatch(last, parts))) {
    const kind = allowed.length > 1 ? 'real or complex' : allowed[0] === 1 ? 'real' : 'complex'
    fail(
      'dims-mismatch',
      `the last dim of the input is ${printDim(last)}; expected ${allowed.join(' or ')} for ${kind} numbers`
    )
  }
}

/** The axes of the signal, not negative. */
function axesOf(
  axes: readonly number[],
  rank: number,
  { countsParts, half }: Pick<Params, 'countsParts' | 'half'>
): number[] {
  if (half !== 'none' && axes.length === 0) fail('dims-mismatch', 'axes are empty; a real transform needs one')
  return normalizeAxes(
    axes.map(axis => (countsParts && axis < 0 ? checkCounted(axis) + 1 : axis)),
    rank
  )
}

const checkCounted = (axis: number): number =>
  axis === -1
    ? fail('axis-out-of-range', 'axis -1 is that of real and imaginary part; a signal axis is expected')
    : axis

type LengthParams = Pick<ShapeParams<Params>, 'lengths' | 'half'> & { readonly countsParts: boolean }

/** Dims after the transform. */
function transformed(signal: readonly Dim[], axes: readonly number[], p: LengthParams): Dim[] {
  const dims = [...signal]
  axes.forEach((axis, i) => {
    const length = lengthOf(signal[axis], p, i, axes.length)
    dims[axis] = p.half === 'out' && i === axes.length - 1 ? addDims(floorDivDims(length, 2), 1) : length
  })
  return dims
}

/**
 * Number of points along axis `i` of `count`.
 * @throws NodewiseError `value-out-of-range` below 1 (in IR -1 stands for what the input has)
 */
function lengthOf(size: Dim, { lengths, half, countsParts }: LengthParams, i: number, count: number): Dim {
  const own = half === 'in' && i === count - 1 ? mulDims(subDims(size, 1), 2) : size
  const given = lengths === undefined ? undefined : lengthAt(lengths, i)
  const length = given === undefined || (given === -1 && !countsParts) ? own : given
  if (typeof length === 'number')
    return length >= 1
      ? length
      : fail('value-out-of-range', `a transform over ${length} points is not possible; at least 1 is expected`)
  return length === own || minDim(length) >= 1 ? asDim(length) : unknownDim(1)
}

const lengthAt = (lengths: DataDependentList, i: number): Dim => (lengths === 'unknown' ? unknownDim(-1) : lengths[i])
