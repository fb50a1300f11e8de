import { ConvArguments, stripsOfPart } from './conv'
import { rowsByPanel } from './gemm'
import { stripsByHalf } from './half-panel'
import { epilogue } from './matrix'
import { fetchLines } from './panels'
import { NONE } from './unary'
import { APART, depthOf, Group, GROUP_BYTES, layOut, reachOf, rowsOfPlane } from './winograd-group'
import { transformInput } from './winograd-input'
import { transformOutput } from './winograd-output'

/**
 * Input channels of a sum; these sums are added up. At a depth of 256 the rounding errors of sums are four times those
 * of the transform of the inputs with spans of 128, two and a half times with spans of 32.
 */
const SPAN: usize = 32

/**
 * Computes blocks `from … to - 1`: a part of the output channels in a group of tile rows, counted over parts, then over
 * groups, then over images. Parts that are computed together share the transformed inputs. With three axes each plane
 * of a window is a channel of its own.
 */
export function winogradBlocks(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const tileRows = rowsOfPlane(args) * args.outD
  const groups = (tileRows + args.rows - 1) / args.rows
  const group = changetype<Group>(scratch)
  while (from < to) {
    const at = from / args.parts
    const first = from % args.parts
    const last = min(args.parts, first + to - from)
    group.image = at / groups
    group.first = (at % groups) * args.rows
    group.count = min(args.rows, tileRows - group.first)
    layOut(args, group, scratch + GROUP_BYTES)
    transformInput(args, group)
    for (let part = first; part < last; part++) winogradPart(args, group, part)
    from += last - first
  }
}

/** Multiplies the transformed inputs of a group by a part of the weights and transforms what comes out. */
function winogradPart(args: ConvArguments, group: Group, part: u32): void {
  const strips = (args.m + 3) >> 2
  const perPart = stripsOfPart(args)
  const first = part * perPart
  const count = min(perPart, strips - first)
  const channels = <usize>depthOf(args)
  const tiles = <usize>group.tiles
  const wMatrix = (strips * channels) << 4
  const pMatrix = ((count * tiles) << 4) + APART
  const points = <usize>(reachOf(args) * reachOf(args))
  for (let point: usize = 0; point < points; point++) {
    const w = args.w + point * wMatrix + ((first * channels) << 4)
    const v = group.v + point * group.matrix
    const product = group.product + point * pMatrix
    fetchLines(w, (count * channels) << 4, product)
    let p: usize = 0
    for (; p + 8 <= tiles; p += 8)
      for (let c: usize = 0; c < channels; c += SPAN)
        rowsByPanel(
          w + (c << 4),
          4,
          16,
          channels << 4,
          v + ((p * channels + (c << 3)) << 2),
          product + (p << 2),
          tiles << 2,
          count << 2,
          8,
          min(SPAN, channels - c),
          c > 0,
          group.lines
        )
    if (p < tiles)
      for (let c: usize = 0; c < channels; c += SPAN)
        stripsByHalf(
          w + (c << 4),
          channels << 4,
          v + ((p * channels + (c << 2)) << 2),
          16,
          product + (p << 2),
          tiles << 2,
          count,
          min(SPAN, channels - c),
          c > 0
        )
  }
  const m = first << 2
  const end = min(args.m, (first + count) << 2)
  const planes = (<usize>(args.outD * args.outH * args.outW)) << 2
  const y = (<usize>group.image * args.m + m) * planes
  transformOutput(args, group, m, end, pMatrix, args.y + y, planes)
  if (args.hasResidual || args.activation != NONE) {
    const line = lineOf(args, group.first)
    const at = y + ((<usize>(line * args.outW)) << 2)
    epilogue(
      args.y + at,
      args.hasResidual ? args.residual + at : 0,
      planes,
      end - m,
      (lineOf(args, group.first + group.count) - line) * args.outW,
      0,
      0,
      1,
      args.activation,
      args.p,
      args.q
    )
  }
}

/** The first line of a row of tiles, counted over the planes of a channel. */
function lineOf(args: ConvArguments, row: u32): u32 {
  const perPlane = rowsOfPlane(args)
  return (row / perPlane) * args.outH + (row % perPlane) * args.side
}
