import { ConvArguments } from './conv'
import { anyWindows } from './depthwise-any'
import { addLine } from './fold'
import { SPAN } from './gemm'
import { copyPart, finishPlane, paddedWidth } from './padded'
import { splat } from './simd'

/** Bytes in scratch memory for the arguments of a band. */
const ARGUMENTS: usize = 256

/**
 * Convolutions to few output channels, of one or two spatial axes: each is summed window by window over the planes of
 * all input channels, which takes less than columns of which a product of few rows makes little use. Sums are made in
 * spans of {@link SPAN} products. Bands `from … to - 1`, counted over images: `args.rows` lines of outputs, or as many
 * outputs of a single line.
 */
export function fewOutputBands(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const isLine = args.outH == 1
  const total = <u32>(isLine ? args.outW : args.outH)
  const bands = (total + args.rows - 1) / args.rows
  const inPlane = (<usize>(args.inH * args.inW)) << 2
  const outPlane = (<usize>(args.outH * args.outW)) << 2
  const weightBytes = (<usize>(args.channels * args.kH * args.kW)) << 2
  // Input channels are to the sums what planes of windows of three axes are.
  const band = changetype<ConvArguments>(scratch)
  memory.copy(scratch, changetype<usize>(args), offsetof<ConvArguments>())
  band.dD = 1
  const together = max<u32>(1, <u32>SPAN / (args.kH * args.kW))
  for (let unit = from; unit < to; unit++) {
    const image = unit / bands
    const first = <i32>((unit % bands) * args.rows)
    const count = min(<i32>args.rows, <i32>total - first)
    if (isLine) band.outW = count
    else band.outH = count
    const top = (isLine ? 0 : first) * args.sH - args.pH
    const left = (isLine ? first : 0) * args.sW - args.pW
    const lineBytes = paddedWidth(band) << 2
    const lines = (band.outH - 1) * args.sH + (args.kH - 1) * args.dH + 1
    const planeBytes = <usize>lines * lineBytes
    const planes = scratch + ARGUMENTS
    memory.fill(planes, 0, <usize>args.channels * planeBytes)
    let x = args.x + <usize>image * args.channels * inPlane
    for (let at = planes, c: u32 = 0; c < args.channels; c++, at += planeBytes, x += inPlane)
      copyPart(args, at, lineBytes, lines, x, top, left)
    const y = ((<usize>(isLine ? 0 : first) * args.outW + (isLine ? first : 0)) << 2) + args.y
    const sums = planes + <usize>args.channels * planeBytes
    const bytes = (<usize>(band.outH * band.outW)) << 2
    for (let m: u32 = 0; m < args.m; m++) {
      const to = y + (<usize>image * args.m + m) * outPlane
      let w = args.w + m * weightBytes
      for (let c: u32 = 0; c < args.channels; c += together) {
        band.kD = min(together, args.channels - c)
        const isLast = c + band.kD == args.channels
        const bias = splat(isLast && args.hasBias ? f32.load(args.bias + (m << 2)) : 0)
        const at = planes + <usize>c * planeBytes
        anyWindows(band, at, lineBytes, planeBytes, lineBytes / args.sW, w, bias, c == 0 ? to : sums)
        if (c > 0) addLine(sums, to, bytes)
        w += (<usize>(band.kD * args.kH * args.kW)) << 2
      }
      finishPlane(args, to, bytes)
    }
  }
}
