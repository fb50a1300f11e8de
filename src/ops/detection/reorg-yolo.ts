import { fail } from '../../errors.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { copyUnits, unitsOf } from '../../kernels/core/units.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { ints } from '../../op-kit/sources.ts'
import { floorDivDims, maxDim, mulDims, printDim } from '../../shapes/dim.ts'
import { type Movable, tensorFact } from '../../shapes/fact.ts'
import { unknownDims } from '../../shapes/lists.ts'

interface Params {
  strides: readonly number[]
}

/**
 * Space to depth in the order of YOLO v2's own implementation, which views the data `[C, H, W]` as `[C / s², H s, W s]`
 * for stride s: the s x s elements of a block go to s² channels. OpenVINO ReorgYolo-2.
 */
export const reorgYolo = defineOp({
  name: 'ReorgYolo',
  operands: { x: 'tensor' },
  params: params<Params>(),
  openvino: [{ since: 2, bind: { strides: ints('stride') } }],
  moves: ['x'],

  shape({ x }, p) {
    checkRank('the data', x, 4)
    const shape = x.shape ?? unknownDims(4)
    const stride = strideOf(p)
    if (maxDim(shape[1]) < stride * stride) {
      fail(
        'dims-mismatch',
        `the data have ${printDim(shape[1])} channels; stride ${stride} needs at least ${stride * stride}`
      )
    }
    for (const axis of [2, 3]) {
      const size = shape[axis]
      if (typeof size === 'number' && size % stride !== 0) {
        fail('dims-mismatch', `axis ${axis} has size ${size}, which stride ${stride} does not divide`)
      }
    }
    const [height, width] = [floorDivDims(shape[2], stride), floorDivDims(shape[3], stride)]
    return [tensorFact(x.type, [shape[0], mulDims(shape[1], stride * stride), height, width])]
  },

  run: ({ x }, p, call) => reorganize(x, strideOf(p), call.output())
})

function strideOf({ strides }: Params): number {
  const [stride] = strides
  if (strides.length === 0 || strides.some(other => other !== stride)) {
    fail('value-out-of-range', `stride holds [${strides.join(', ')}]; one number is expected`)
  }
  if (stride < 1 || stride > 2 ** 24) fail('value-out-of-range', `stride is ${stride}; expected at least 1`)
  return stride
}

function* reorganize(x: Movable, stride: number, out: Movable): Generator<void> {
  const { array: from, per } = unitsOf(x)
  const to = unitsOf(out).array
  if (to.length === 0) return
  const [batch, channels, height, width] = x.dims
  const blocks = Math.floor(channels / (stride * stride))
  const row = width * stride
  const pace = new Pace()
  let target = 0
  for (let n = 0; n < batch * channels; n++) {
    const channel = n % channels
    const offset = Math.floor(channel / blocks)
    const plane = (n - channel) * height * width + (channel % blocks) * height * stride * row
    const first = plane + Math.floor(offset / stride) * row + (offset % stride)
    for (let y = 0; y < height; y++) {
      if (pace.isDue(4 * width * per * COST.element)) yield
      for (let i = 0; i < width; i++, target += per)
        copyUnits(from, (first + y * stride * row + i * stride) * per, to, target, per)
    }
  }
}
