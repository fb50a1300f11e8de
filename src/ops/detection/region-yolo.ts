import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, ints } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, mayMatch, normalizeAxis, printDim, productOf } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  coordinates: number
  classes: number
  regions: number
  softmax: boolean
  mask: readonly number[]
  axis: number
  endAxis: number
}

/** Rules of {@link regionYolo}. */
export const regionYoloRules = defineRules({
  name: 'RegionYolo',
  operands: { x: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 1,
      types: { x: FLOATS },
      bind: {
        coordinates: int('coords'),
        classes: int('classes'),
        regions: int('num'),
        softmax: flag('do_softmax'),
        mask: ints('mask'),
        axis: int('axis'),
        endAxis: int('end_axis')
      }
    }
  ],

  shape({ x }, p) {
    if (p.coordinates < 2 || p.classes < 0 || p.regions < 0) {
      fail(
        'value-out-of-range',
        `there are ${p.regions} regions of ${p.coordinates} coordinates and ${p.classes} classes; ` +
          `expected at least 2 coordinates`
      )
    }
    checkRank('the data', x, 4)
    if (x.shape === undefined) return [tensorFact(x.type, undefined)]
    const [batch, channels, height, width] = x.shape
    const needed = regionsOf(p) * sizeOf(p)
    const enough = p.softmax ? mayMatch(channels, needed) : typeof channels !== 'number' || channels >= needed
    if (!enough)
      fail('dims-mismatch', `the data have ${printDim(channels)} channels; ${regionsOf(p)} regions need ${needed}`)
    return [tensorFact(x.type, p.softmax ? flattened(x.shape, p) : [batch, needed, height, width])]
  }
})

/**
 * The last layer of YOLO: OpenVINO RegionYolo-1. A region is x, y, further coordinates, objectness and classes. The
 * logistic function is applied to x, y and objectness. Classes get softmax in YOLO v2, whose dims are flattened, and
 * the logistic function in v3, which has as many regions as the mask has elements (the first ones of the data).
 */
export const regionYolo = /* @__PURE__ */ withKernel(regionYoloRules, {
  *run({ x }, p, call) {
    const [batch, channels, height, width] = x.dims
    const plane = height * width
    const size = sizeOf(p)
    const result = call.output()
    if (result.data.length === 0) return
    const numbers = yield* readNumbers(x)
    const { numbers: out, finish } = targetOf(result)
    for (let region = 0; region < batch * regionsOf(p); region++) {
      const image = Math.floor(region / regionsOf(p))
      const from = (image * channels + (region % regionsOf(p)) * size) * plane
      const to = region * size * plane
      yield* inChunks(size * plane, (first, last) => out.set(numbers.subarray(from + first, from + last), to + first))
      yield* logistic(out, to, to + 2 * plane)
      yield* logistic(out, to + p.coordinates * plane, to + (p.softmax ? p.coordinates + 1 : size) * plane)
      if (p.softmax) yield* softmax(out, to + (p.coordinates + 1) * plane, p.classes, plane)
      yield
    }
    yield* finish()
  }
})

const regionsOf = ({ softmax, regions, mask }: Params): number => (softmax ? regions : mask.length)
const sizeOf = ({ coordinates, classes }: Params): number => coordinates + classes + 1

function flattened(shape: readonly Dim[], p: Params): Dim[] {
  const first = normalizeAxis(p.axis, shape.length)
  const last = normalizeAxis(p.endAxis, shape.length, 'end_axis')
  if (last < first) fail('axis-out-of-range', `end_axis ${p.endAxis} lies before axis ${p.axis}`)
  return [...shape.slice(0, first), productOf(shape.slice(first, last + 1)), ...shape.slice(last + 1)]
}

function* logistic(numbers: Numbers, from: number, to: number): Generator<void> {
  yield* inChunks(
    to - from,
    (first, last) => {
      for (let i = from + first; i < from + last; i++) numbers[i] = 1 / (1 + Math.exp(-numbers[i]))
    },
    4 * COST.element
  )
}

/** Softmax across `count` planes, for each element of the plane. */
function* softmax(numbers: Numbers, start: number, count: number, plane: number): Generator<void> {
  const pace = new Pace()
  for (let i = start; i < start + plane; i++) {
    if (pace.isDue(16 * count * COST.element)) yield
    let highest = -Infinity
    for (let k = 0; k < count; k++) highest = Math.max(highest, numbers[i + k * plane])
    let sum = 0
    for (let k = 0; k < count; k++) sum += Math.exp(numbers[i + k * plane] - highest)
    for (let k = 0; k < count; k++) numbers[i + k * plane] = Math.exp(numbers[i + k * plane] - highest) / sum
  }
}
