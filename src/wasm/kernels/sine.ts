import type { Paced } from '../../kernels/core/pace.ts'
import type { Kernel } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, liesOver, type Selector, staged } from '../selector.ts'
import { temporaries } from '../temporary.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Elements of a tile. */
const TILE = 1 << 14
/** Work of an element of Sin, Cos or Tan, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 32

/** Numbers of the functions in ../assembly/f32/sine.ts. */
const KINDS = { sine: 0, cosine: 1, tangent: 2 } as const

/** Sin, Cos and Tan of float32. The kernel stops at magnitudes of which float32 holds no angle. */
export const selectSine = (name: keyof typeof KINDS): Selector => selectNumbered('sine', KINDS[name], ELEMENT_WORK)

/**
 * A function of float32, element by element, by a kernel that knows functions by number. The arguments are those of
 * NumberedArguments in ../assembly/f32/sine.ts.
 * @param elementWork work of an element, in bytes that could be copied in the same time
 * @param looksAt given where the kernel serves all values, so that its job may be recorded
 */
export const selectNumbered =
  (kernel: 'sine' | 'transcendental', number: number, elementWork: number, looksAt?: readonly []): Selector =>
  ({ op, operands: { x } }) => {
    if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
    const template = {
      kernel,
      blocks: product(x.dims),
      blockBytes: 4,
      tile: TILE,
      work: product(x.dims) * elementWork,
      inputs: staged(1),
      args: [number]
    } as const
    const run = jobKernel(op, given => ({ template, inputs: [arrayOf(given.x!)] }))
    return looksAt ? { kernel: run, looksAt } : { kernel: keepingOperand(run) }
  }

/**
 * A kernel that may stop when it has written a part of the result. Where the result is written over the operand, it
 * reads a copy: the reference, which takes over then, needs all elements as they were.
 */
const keepingOperand =
  (run: Kernel): Kernel =>
  (given, own, context) => {
    const out = context.rawOutput()
    const x = given.x as Tensor
    const into = withOutput(context, out)
    if (!liesOver(out, x)) return run(given, own, into)
    return (function* (): Paced {
      const { allocate, free } = temporaries()
      try {
        const copy = allocate(product(x.dims)) as Float32Array<ArrayBuffer>
        copy.set(arrayOf(x) as Float32Array)
        const rest = run({ x: new Tensor('float32', copy, x.dims) }, own, into)
        if (rest) yield* rest
      } finally {
        free()
      }
    })()
  }
