import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { axisSteps, factorsOf, type Half, halfOf, MAX_FACTOR } from '../../kernels/signal/lengths.ts'
import { normalizeAxes } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { type Candidate, floatBits, jobSelection, selectorFor, staged, workOfFlops } from '../selector.ts'
import { type Pass, passesSelection } from './passes.ts'

/** Points of all lines below which setting a job up costs more than it gains. */
const MIN_POINTS = 1 << 8
/** Points of a line: two lists of those of four lines fit into the scratch memory of a thread. */
const MAX_POINTS = 1 << 14
/** Lines that a block computes at once. */
const LANES = 4
/** Bytes of a float32. */
const FLOAT = 4
/** Flags of ../assembly/f32/fourier.ts. */
const FLAGS = { complexX: 1, complexY: 2, window: 4, mirror: 8, inverse: 16 } as const

/** Parts of a number: a real one, or the real and the imaginary part of a complex one. */
type Parts = 1 | 2

/** Lines of a tensor: the steps between lines of a group, groups, and elements of a line, in numbers. */
interface Lines {
  readonly parts: Parts
  readonly line: number
  readonly group: number
  readonly step: number
}

/** Transforms of `n` points of `count` lines, of which `group` each lie regularly. */
interface Transform {
  readonly n: number
  readonly count: number
  readonly group: number
  readonly x: Lines
  readonly y: Lines
  readonly given: number
  readonly kept: number
  readonly isInverse?: boolean
  readonly mirrors?: boolean
  readonly hasWindow?: boolean
}

/** The job of transforms; undefined where no kernel does. Its inputs: the numbers, the window, the roots of unity. */
function transformTemplate(t: Transform): JobTemplate | undefined {
  const { n, count, group, x, y } = t
  if (n * count < MIN_POINTS || n > MAX_POINTS) return undefined
  const factors = factorsOf(n)
  if (factors.some(factor => factor > MAX_FACTOR)) return undefined
  const flags =
    (x.parts === 2 ? FLAGS.complexX : 0) +
    (y.parts === 2 ? FLAGS.complexY : 0) +
    (t.hasWindow ? FLAGS.window : 0) +
    (t.mirrors ? FLAGS.mirror : 0) +
    (t.isInverse ? FLAGS.inverse : 0)
  const inBytes = ({ parts, line, group: next, step }: Lines): number[] =>
    [line, next, step].map(numbers => numbers * parts * FLOAT)
  // A point of a stage takes as many multiplications and additions as its factor has terms, each of complex numbers.
  const flops = count * n * factors.reduce((sum, factor) => sum + 4 * factor, 0)
  return {
    kernel: 'fourier',
    blocks: Math.ceil(count / LANES),
    blockBytes: LANES * t.kept * y.parts * FLOAT,
    work: workOfFlops(flops),
    inputs: staged(3),
    // The arguments are those of FourierArguments in ../assembly/f32/fourier.ts.
    args: [
      n,
      count,
      group,
      ...inBytes(x),
      ...inBytes(y),
      t.given,
      t.kept,
      flags,
      floatBits(t.isInverse ? 1 / n : 1),
      factors.length,
      ...factors
    ]
  }
}

/** The roots of unity of `n` points: real and imaginary parts in turn. */
function rootsOf(n: number): Float32Array {
  const roots = new Float32Array(2 * n)
  for (let k = 0; k < n; k++) {
    roots[2 * k] = Math.cos((2 * Math.PI * k) / n)
    roots[2 * k + 1] = -Math.sin((2 * Math.PI * k) / n)
  }
  return roots
}

interface DftParams {
  readonly axes: readonly number[]
  readonly lengths: readonly number[] | undefined
  readonly inverse: boolean
  readonly half: Half
  readonly partsIn: boolean
  readonly partsOut: boolean
  readonly countsParts: boolean
}

/** DFT, IDFT, RDFT and IRDFT of float32, axis by axis. */
export const selectDft = selectorFor<DftParams>(call => {
  const { op, operands } = call
  if (operands.x?.type !== 'float32') return undefined
  const passes = passesOf(call, operands.x.dims)
  if (passes === undefined || passes.length === 0) return undefined
  if (passes.length > 1) return passesSelection(op, 'x', passes)
  const [{ template, tables }] = passes
  return jobSelection(op, template, ['x', ...tables])
})

/** One pass for each axis, in their order; undefined where one is not served. */
function passesOf(
  { parameters: p, dims: outDims }: Candidate<DftParams>,
  xDims: readonly number[]
): Pass[] | undefined {
  const signal = p.partsIn ? xDims.slice(0, -1) : xDims
  const rank = signal.length
  // The axis of the parts is no axis of a transform, but counts where axes are counted from the end.
  const axes = normalizeAxes(
    p.axes.map(axis => (p.countsParts && axis < 0 ? axis + 1 : axis)),
    rank
  )
  const partsOf = (dims: readonly number[], has: boolean): Parts => (has && dims[rank] === 2 ? 2 : 1)
  const transforms = axes.map((axis, i) => {
    const given = p.lengths?.[i]
    const isOwn = given === undefined || (given === -1 && !p.countsParts)
    const isHalved = p.half === 'out' && i === axes.length - 1
    return { axis, length: !isHalved ? outDims[axis] : isOwn ? xDims[axis] : given }
  })
  const steps = axisSteps(signal, transforms, p.half)
  let parts = partsOf(xDims, p.partsIn)
  const passes: Pass[] = []
  for (const [i, { axis, length: n, from, to, mirrors }] of steps.entries()) {
    const made = i === steps.length - 1 ? partsOf(outDims, p.partsOut) : 2
    const { outer, size, inner } = axisLayout(from, axis)
    const template = transformTemplate({
      n,
      count: outer * inner,
      group: inner,
      x: { parts, line: 1, group: size * inner, step: inner },
      y: { parts: made, line: 1, group: to[axis] * inner, step: inner },
      given: Math.min(size, mirrors ? halfOf(n) : n),
      kept: to[axis],
      isInverse: p.inverse,
      mirrors
    })
    if (template === undefined) return undefined
    const roots = rootsOf(n)
    // There is no window.
    passes.push({ template, tables: [roots, roots], count: product(to) * made })
    parts = made
  }
  return passes
}

interface StftParams {
  readonly step: number
  readonly length: number | undefined
  readonly onesided: boolean
  readonly transposed: boolean
  readonly form: 'onnx' | 'openvino'
}

/** STFT of float32 whose window, if any, is as long as a frame. */
export const selectStft = selectorFor<StftParams>(({ op, operands: { signal, window }, parameters: p, dims }) => {
  if (signal?.type !== 'float32' || (window && window.type !== 'float32')) return undefined
  const isOnnx = p.form === 'onnx'
  const [batch, samples] = isOnnx ? signal.dims : [product(signal.dims.slice(0, -1)), signal.dims.at(-1)!]
  const parts = isOnnx && signal.dims[2] === 2 ? 2 : 1
  const n = p.length ?? window?.dims[0] ?? samples
  if (window && window.dims[0] !== n) return undefined
  const frames = dims[dims.length - (p.transposed ? 2 : 3)]
  const kept = p.onesided ? halfOf(n) : n
  const [line, step] = p.transposed ? [1, frames] : [kept, 1]
  const template = transformTemplate({
    n,
    count: batch * frames,
    group: frames,
    x: { parts, line: p.step, group: samples, step: 1 },
    y: { parts: 2, line, group: frames * kept, step },
    given: n,
    kept,
    hasWindow: window !== undefined
  })
  if (template === undefined) return undefined
  return jobSelection(op, template, ['signal', window ? 'window' : 'signal', rootsOf(n)])
})
