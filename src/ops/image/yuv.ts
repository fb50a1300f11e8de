import { fail } from '../../errors.ts'
import { nothingToFinish, targetOf } from '../../kernels/core/numbers.ts'
import { WORK_PER_YIELD } from '../../kernels/core/steps.ts'
import { storeWhole } from '../../kernels/core/whole.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { is } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, floorDivDims, mayMatch, meetDims, mulDims, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { commonType } from '../../shapes/lists.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** How the colour planes lie: U and V side by side for each pixel pair, or one plane each. */
  layout: 'nv12' | 'i420'
  order: 'rgb' | 'bgr'
}

const types = { y: ['uint8', ...FLOATS], second: ['uint8', ...FLOATS], third: ['uint8', ...FLOATS] } as const

/**
 * Pictures of luma and of colour at half the resolution become red, green and blue by BT.601: OpenVINO NV12toRGB-8,
 * NV12toBGR-8, I420toRGB-8,
 * I420toBGR-8, from one tensor `[N, 3 H / 2, W, 1]` or from one for each plane. 8-bit results are rounded to the
 * nearest.
 */
export const yuvOps: readonly Op[] = (['nv12', 'i420'] as const).flatMap(layout =>
  (['rgb', 'bgr'] as const).map(order =>
    defineOp({
      name: `${layout.toUpperCase()}to${order.toUpperCase()}`,
      operands: { y: 'tensor', second: 'optional', third: 'optional' },
      params: params<Params>(),
      openvino: [{ since: 8, types, bind: { layout: is(layout), order: is(order) } }],

      shape({ y, second, third }, p) {
        const planes = [y, second, third].filter(plane => plane !== undefined)
        const type = commonType(planes)
        const expected = p.layout === 'nv12' ? 2 : 3
        if (planes.length !== 1 && planes.length !== expected)
          fail('wrong-input-count', `there are ${planes.length} planes; expected 1 or ${expected}`)
        planes.forEach(checkPlane)
        if (y.shape === undefined) return [tensorFact(type, undefined)]
        const [batch, rows, width] = y.shape
        checkChannels(y.shape, 1)
        if (planes.length === 1) {
          if (!mayMatch(mulDims(floorDivDims(rows, 3), 3), rows))
            fail('dims-mismatch', `the planes have ${printDim(rows)} rows in all, which is no multiple of 3`)
          return [tensorFact(type, [batch, mulDims(floorDivDims(rows, 3), 2), even(width), 3])]
        }
        let images: Dim = batch
        for (const plane of planes.slice(1)) {
          if (plane.shape === undefined) continue
          checkChannels(plane.shape, p.layout === 'nv12' ? 2 : 1)
          if (!mayMatch(mulDims(plane.shape[1], 2), rows) || !mayMatch(mulDims(plane.shape[2], 2), width)) {
            fail(
              'dims-mismatch',
              `a colour plane has dims ${printShape(plane.shape)}; expected half the rows and columns of ${printShape(y.shape)}`
            )
          }
          images =
            meetDims(images, plane.shape[0]) ??
            fail('dims-mismatch', `the batch has size ${printDim(images)} and ${printDim(plane.shape[0])}`)
        }
        return [tensorFact(type, [images, even(rows), even(width), 3])]
      },

      *run({ y, second, third }, p, call) {
        const out = call.output()
        const [images, height, width] = out.dims
        const planes = planesOf(
          [y, second, third].filter(plane => plane !== undefined),
          height,
          width,
          p.layout
        )
        const target = isFloat(out.type)
          ? targetOf(out)
          : { numbers: new Float32Array(out.data.length), finish: nothingToFinish }
        for (let row = 0; row < images * height; row++) {
          convertRow(
            planes,
            Math.floor(row / height),
            row % height,
            width,
            target.numbers,
            row * width * 3,
            p.order === 'rgb'
          )
          if (row % Math.ceil(WORK_PER_YIELD / (16 * width + 1)) === 0) yield
        }
        yield* target.finish()
        if (!isFloat(out.type)) yield* storeWhole(target.numbers, out)
      }
    })
  )
)

function checkPlane({ shape }: TensorFact): void {
  if (shape && shape.length !== 4) fail('rank-mismatch', `a plane has rank ${shape.length}; expected 4`)
}

function checkChannels(shape: readonly Dim[], expected: number): void {
  if (!mayMatch(shape[3], expected))
    fail('dims-mismatch', `a plane has dims ${printShape(shape)}; its last must be ${expected}`)
}

function even(dim: Dim): Dim {
  if (typeof dim === 'number' && dim % 2 !== 0)
    fail('dims-mismatch', `the picture has ${dim} rows or columns; expected an even number`)
  return dim
}

/** Where a plane begins, and the numbers between its images and between its pixel pairs. */
interface Plane {
  readonly numbers: Numbers
  readonly start: number
  readonly image: number
  readonly step: number
}

function planesOf(
  tensors: readonly Tensor[],
  height: number,
  width: number,
  layout: Params['layout']
): { y: Plane; u: Plane; v: Plane } {
  const numbers = tensors.map(toNumbers)
  const size = height * width
  const one = tensors.length === 1
  const y: Plane = { numbers: numbers[0], start: 0, image: one ? (size * 3) / 2 : size, step: 1 }
  if (layout === 'nv12') {
    const u: Plane = one ? { ...y, start: size, step: 2 } : { numbers: numbers[1], start: 0, image: size / 2, step: 2 }
    return { y, u, v: { ...u, start: u.start + 1 } }
  }
  const u: Plane = one ? { ...y, start: size } : { numbers: numbers[1], start: 0, image: size / 4, step: 1 }
  return { y, u, v: one ? { ...y, start: (size * 5) / 4 } : { ...u, numbers: numbers[2] } }
}

function convertRow(
  { y, u, v }: { y: Plane; u: Plane; v: Plane },
  image: number,
  row: number,
  width: number,
  out: Numbers,
  target: number,
  redFirst: boolean
): void {
  const luma = y.start + image * y.image + row * width
  const pair = Math.floor(row / 2) * (width / 2)
  for (let i = 0; i < width; i++) {
    const c = 1.164 * (y.numbers[luma + i] - 16)
    const at = pair + (i >> 1)
    const d = u.numbers[u.start + image * u.image + at * u.step] - 128
    const e = v.numbers[v.start + image * v.image + at * v.step] - 128
    const red = clip(c + 1.596 * e)
    const blue = clip(c + 2.018 * d)
    out[target + 3 * i] = redFirst ? red : blue
    out[target + 3 * i + 1] = clip(c - 0.391 * d - 0.813 * e)
    out[target + 3 * i + 2] = redFirst ? blue : red
  }
}

const clip = (value: number): number => Math.min(255, Math.max(0, value))
