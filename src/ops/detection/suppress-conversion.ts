import { elementwise, extreme, picked, shapeOf, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { looped } from '../../op-kit/conversion-loops.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import { counted, extremeSize, type Size, sizeAt, sizeList, sizeScalar } from '../../op-kit/conversion-sizes.ts'
import type { Made, Writer } from '../../op-kit/conversion.ts'

/** The score of what is no candidate, or not kept. */
export const NONE = -Infinity

/** Boxes of groups (a class of an image each), `[groups, boxes, 4]`, and their scores, `[groups, boxes]`. */
export interface Groups {
  readonly boxes: Made
  /** {@link NONE} for boxes that are no candidates. */
  readonly scores: Made
}

/** How boxes suppress others, see `kernels/detection/suppress.ts`. */
export interface SuppressRule {
  readonly maxBoxes: Size | undefined
  readonly iou: Made
  /** Below 1: every kept box multiplies the threshold while it is above 0.5. */
  readonly eta?: number
  /** Added to every side length. */
  readonly extra?: number
  /** Whether boxes whose distance is less than `extra` overlap. */
  readonly isExtended?: boolean
  /** Soft-NMS: scores are lowered instead, and those that are not accepted any more are dropped. */
  readonly fading?: { readonly sigma: Made; readonly minScore: Made; readonly drops: boolean }
}

/** A number of single precision. */
export const single = (w: Writer, value: number): Made => w.scalar('float32', value)

/** One edge of boxes: all but the last dim. */
const edge = (w: Writer, boxes: Made, index: number): Made =>
  w.node('Gather', [boxes, w.scalar('int64', index)], { axis: -1 })

/** Intersection over union, as `overlap` in `kernels/detection/boxes.ts`; dims are broadcast. */
export function overlapOf(w: Writer, a: Made, b: Made, extra = 0, isExtended = false): Made {
  const longer = (x: Made): Made => (extra === 0 ? x : add(w, x, single(w, extra)))
  const areaOf = (boxes: Made): Made => {
    const [height, width] = [0, 1].map(i => longer(sub(w, edge(w, boxes, i + 2), edge(w, boxes, i))))
    return mul(w, height, width)
  }
  const [areaA, areaB] = [areaOf(a), areaOf(b)]
  const [height, width] = [0, 1].map(i =>
    sub(w, extreme(w, 'Min', edge(w, a, i + 2), edge(w, b, i + 2)), extreme(w, 'Max', edge(w, a, i), edge(w, b, i)))
  )
  const [tall, wide] = [longer(height), longer(width)]
  const shared = mul(w, tall, wide)
  const part = div(w, shared, sub(w, add(w, areaA, areaB), shared))
  const zero = single(w, 0)
  const least = extreme(w, 'Min', areaA, areaB)
  const isShared = elementwise(
    w,
    'And',
    elementwise(w, 'Greater', least, zero),
    isExtended
      ? elementwise(w, 'Greater', extreme(w, 'Min', tall, wide), zero)
      : elementwise(w, 'GreaterOrEqual', extreme(w, 'Min', height, width), zero)
  )
  return elementwise(w, 'Where', isShared, part, zero)
}

/**
 * Non-maximum suppression in each group, as a loop that keeps the best box of every group at once.
 * @returns the scores of the boxes that are kept, {@link NONE} for the others
 */
export function suppressed(w: Writer, { boxes, scores }: Groups, rule: SuppressRule): Made {
  const none = single(w, NONE)
  const positions = counted(w, 0, sizeAt(w, scores, 1))
  const { maxBoxes, eta = 1, fading } = rule
  const most = sizeAt(w, scores, 1)
  const count = maxBoxes === undefined ? most : extremeSize(w, 'Min', maxBoxes, most)
  const noScores = w.node('Expand', [none, shapeOf(w, scores)])
  const thresholds = eta < 1 ? [w.node('Expand', [rule.iou, sizeList(w, [sizeAt(w, scores, 0), 1])])] : []
  const { carried } = looped(
    w,
    { count: sizeScalar(w, count), goes: anyLeft(w, scores) },
    [scores, noScores, ...thresholds],
    (inner, _, [left, kept, threshold]) => {
      const best = inner.node('ArgMax', [left], { axis: 1, keepdims: 1 })
      const isBest = elementwise(
        inner,
        'And',
        elementwise(inner, 'Equal', positions, best),
        elementwise(inner, 'Greater', left, none)
      )
      const box = unsqueezed(inner, inner.node('GatherND', [boxes, best], { batch_dims: 1 }), [1])
      const shared = overlapOf(inner, boxes, box, rule.extra, rule.isExtended)
      const limit = threshold ? fallen(inner, threshold, eta) : rule.iou
      const others = elementwise(inner, 'Where', isBest, none, left)
      const after = fading
        ? faded(inner, others, shared, limit, fading)
        : elementwise(inner, 'Where', elementwise(inner, 'Greater', shared, limit), none, others)
      return {
        goes: anyLeft(inner, after),
        next: [after, elementwise(inner, 'Where', isBest, left, kept), ...(threshold ? [limit] : [])]
      }
    }
  )
  return carried[1]
}

/** Whether there is a candidate in any group. */
function anyLeft(w: Writer, scores: Made): Made {
  // The largest of no scores is an error in ONNX Runtime.
  const places = w.node('NonZero', [elementwise(w, 'Greater', scores, single(w, NONE))])
  const count = w.reshape(picked(w, shapeOf(w, places), [1]), [])
  return elementwise(w, 'Greater', count, w.scalar('int64', 0))
}

const fallen = (w: Writer, threshold: Made, eta: number): Made =>
  elementwise(
    w,
    'Where',
    elementwise(w, 'Greater', threshold, single(w, 0.5)),
    mul(w, threshold, single(w, eta)),
    threshold
  )

function faded(
  w: Writer,
  scores: Made,
  shared: Made,
  limit: Made,
  { sigma, minScore, drops }: NonNullable<SuppressRule['fading']>
): Made {
  const none = single(w, NONE)
  const squares = mul(w, mul(w, shared, shared), single(w, -0.5))
  const lowered = mul(w, scores, elementwise(w, 'Exp', div(w, squares, sigma)))
  const isEnough = elementwise(w, 'GreaterOrEqual', lowered, minScore)
  // A score that stands for none, times 0, is no number, which is not enough either.
  const left = elementwise(w, 'Where', isEnough, lowered, none)
  return drops ? elementwise(w, 'Where', elementwise(w, 'Greater', shared, limit), none, left) : left
}
