import type { Prior } from '../../kernels/detection/priors.ts'
import { extreme, joined, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, div, mul } from '../../op-kit/conversion-parts.ts'
import {
  counted,
  mulSizes,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList,
  sizeScalar,
  sizesParameter,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import { type Conversion, type Made, type SourceCall, toOnnx, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { type Boxes, centered, priorBox, priorBoxClustered, priorsOf } from './prior-box.ts'
import { priorGridGenerator } from './prior-grid-generator.ts'

/** The sizes that boxes depend on, as floats. */
interface Sizes {
  readonly grid: readonly [height: Size, width: Size]
  readonly imageHeight: Made
  readonly imageWidth: Made
}

const number = (w: Writer, value: number): Made => w.scalar('float32', value)

const floatOf = (w: Writer, size: Size): Made =>
  typeof size === 'number' ? number(w, size) : w.cast(sizeScalar(w, size), 'float32')

function sizesOf(call: SourceCall, w: Writer): Sizes {
  const [height, width] = sizesParameter(call, 'grid', w, 2)
  const [imageHeight, imageWidth] = sizesParameter(call, 'image', w, 2).map(size => floatOf(w, size))
  return { grid: [height, width], imageHeight, imageWidth }
}

/** `(0.5, 1.5, …) * step` for an offset of 0.5. */
const centersOf = (w: Writer, cells: Size, step: Made, offset: number): Made => {
  const numbers = w.cast(counted(w, 0, cells), 'float32')
  return mul(w, add(w, numbers, number(w, offset)), step)
}

/** The centre of each cell as `[x, y, x, y]`, in dims `[height, width, 1, 4]`. */
function places(w: Writer, [height, width]: Sizes['grid'], x: Made, y: Made): Made {
  const dims = sizeList(w, [height, width, 1, 1])
  const columns = w.node('Expand', [unsqueezed(w, x, [0, 2, 3]), dims])
  const rows = w.node('Expand', [unsqueezed(w, y, [1, 2, 3]), dims])
  return joined(w, [columns, rows, columns, rows], 3)
}

/** Edges of boxes relative to their centres: `[x1, y1, x2, y2]` of each. */
const edgesOf = (priors: readonly Prior[]): number[] =>
  priors.flatMap(({ dx, dy, halfWidth, halfHeight }) => [
    dx - halfWidth,
    dy - halfHeight,
    dx + halfWidth,
    dy + halfHeight
  ])

/** Boxes around every cell relative to the image, and their variances, `[2, cells * boxes * 4]`. */
function placed(
  call: SourceCall,
  w: Writer,
  { grid, imageHeight, imageWidth }: Sizes,
  [x, y]: readonly [Made, Made],
  edges: Made,
  priors: readonly Prior[]
): Made {
  const size = joined(
    w,
    [imageWidth, imageHeight, imageWidth, imageHeight].map(one => w.reshape(one, [1])),
    0
  )
  const boxes = div(w, add(w, places(w, grid, x, y), edges), size)
  const count = mulSizes(w, mulSizes(w, grid[0], grid[1]), 4 * priors.length)
  const flat = reshapedBy(w, bounded(call, w, boxes, priors), [1, count])
  const variances = call.param<readonly number[]>('variance')
  const each = w.constant('float32', variances.length === 1 ? upToFour(variances[0]) : variances, [1, 4])
  const cells = mulSizes(w, mulSizes(w, grid[0], grid[1]), priors.length)
  const all = reshapedBy(w, w.node('Expand', [each, sizeList(w, [cells, 4])]), [1, count])
  return joined(w, [flat, all], 0)
}

const upToFour = (value: number): number[] => [value, value, value, value]

/** All coordinates are moved to 0 … 1, or only the outer ones of boxes that are cut. */
function bounded(call: SourceCall, w: Writer, boxes: Made, priors: readonly Prior[]): Made {
  if (call.param<boolean>('clip')) return w.node('Clip', [boxes, number(w, 0), number(w, 1)])
  if (!priors.some(({ cut }) => cut)) return boxes
  const edges = (cut: readonly number[], open: number): Made =>
    w.constant(
      'float32',
      priors.flatMap(prior => (prior.cut ? cut : cut.map(() => open))),
      [priors.length, 4]
    )
  const low = extreme(w, 'Max', boxes, edges([0, 0, -Infinity, -Infinity], -Infinity))
  return extreme(w, 'Min', low, edges([Infinity, Infinity, 1, 1], Infinity))
}

/** Pixels from cell to cell where the grid fills the image. */
const filling = (w: Writer, { grid, imageHeight, imageWidth }: Sizes): readonly [x: Made, y: Made] => [
  div(w, imageWidth, floatOf(w, grid[1])),
  div(w, imageHeight, floatOf(w, grid[0]))
]

/** The edges of the boxes: without `scale_all_sizes` a constant part and one that goes with the image's height. */
function edgesIn(call: SourceCall, w: Writer, { imageHeight }: Sizes): { edges: Made; priors: readonly Prior[] } {
  const p = call.parameters as Boxes
  const list = (edges: readonly number[]): Made => w.constant('float32', edges, [edges.length / 4, 4])
  const priors = priorsOf(p, 1)
  const all = edgesOf(priors)
  if (p.scaleAll) return { edges: list(all), priors }
  const fixed = edgesOf(priorsOf(p, 0))
  const scaled = mul(w, list(all.map((edge, i) => edge - fixed[i])), imageHeight)
  return { edges: add(w, scaled, list(fixed)), priors }
}

function priorBoxToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const sizes = sizesOf(call, w)
  const [step, scaleAll] = [call.param<number>('step'), call.param<boolean>('scaleAll')]
  const { edges, priors } = edgesIn(call, w, sizes)
  const [fillX, fillY] = filling(w, sizes)
  const byImage = mul(w, number(w, step), sizes.imageHeight)
  const distance = scaleAll ? number(w, step) : step === -1 ? fillY : byImage
  const [stepX, stepY] = step === 0 ? [fillX, fillY] : [distance, distance]
  const offset = step === 0 ? 0.5 : call.param<number>('offset')
  const [height, width] = sizes.grid
  const at = [centersOf(w, width, stepX, offset), centersOf(w, height, stepY, offset)] as const
  return [placed(call, w, sizes, at, edges, priors)]
}

function clusteredToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const sizes = sizesOf(call, w)
  const [step, stepX, stepY] = ['step', 'stepX', 'stepY'].map(name => call.param<number>(name))
  const [x, y] = [stepX === 0 ? step : stepX, stepY === 0 ? step : stepY]
  const [distanceX, distanceY] = x === 0 && y === 0 ? filling(w, sizes) : [number(w, x), number(w, y)]
  const offset = call.param<number>('offset')
  const heights = call.param<readonly number[]>('heights')
  const priors = call.param<readonly number[]>('widths').map((width, i) => centered(width, heights[i]))
  const edges = w.constant('float32', edgesOf(priors), [priors.length, 4])
  const [height, width] = sizes.grid
  const at = [centersOf(w, width, distanceX, offset), centersOf(w, height, distanceY, offset)] as const
  return [placed(call, w, sizes, at, edges, priors)]
}

/** Boxes moved to the centres of cells; a grid smaller than the feature map leaves zeros at the end. */
function priorGridToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [priors, map, image] = ['priors', 'map', 'image'].map(name => call.operand(name))
  const type = typeOf(priors)
  const [mapHeight, mapWidth] = [sizeAt(w, map, 2), sizeAt(w, map, 3)]
  const [height, width] = [call.param<number>('height') || mapHeight, call.param<number>('width') || mapWidth]
  const stepOf = (name: string, axis: number, cells: Size): Made => {
    const step = call.param<number>(name)
    return step ? number(w, step) : div(w, floatOf(w, sizeAt(w, image, axis)), floatOf(w, cells))
  }
  const x = centersOf(w, width, stepOf('stepX', 3, width), 0.5)
  const y = centersOf(w, height, stepOf('stepY', 2, height), 0.5)
  const boxes = add(w, w.cast(places(w, [height, width], x, y), type), priors)
  const count = sizeAt(w, priors, 0)
  const isAll = height === mapHeight && width === mapWidth
  if (isAll && !call.param<boolean>('flat')) return [boxes]
  const cells = mulSizes(w, height, width)
  const flat = reshapedBy(w, boxes, [mulSizes(w, cells, count), 4])
  const missing = subSizes(w, mulSizes(w, mapHeight, mapWidth), cells)
  const none = w.constant('int64', [0])
  const end = joined(w, [none, none, sizeList(w, [mulSizes(w, missing, count)]), none], 0)
  const whole = isAll ? flat : w.node('Pad', [flat, end])
  return [call.param<boolean>('flat') ? whole : reshapedBy(w, whole, [mapHeight, mapWidth, count, 4])]
}

/** Prior boxes in nodes of ONNX. */
export const priorRules: readonly Conversion[] = [
  toOnnx(priorBox, priorBoxToOnnx),
  toOnnx(priorBoxClustered, clusteredToOnnx),
  toOnnx(priorGridGenerator, priorGridToOnnx)
]
