import { Windows } from '../windows'

/**
 * Y = f(sums of (X - its zero point) (W - zero points of its output channels)) over windows of bytes: exact sums in
 * int32, which wrap; as they are, or scaled in double precision, rounded once and clamped. Steps are in bytes.
 */
@unmanaged
export class ByteConvArguments {
  x: usize
  /**
   * [groups][m][channels][taps], or packed, group by group, in strips of four output channels by `packByteStrip` or of
   * six by `packDotStrip`, or by `packByteWinograd`.
   */
  w: usize
  /** int32: the zero point of each output channel; not read where W is packed. */
  zeros: usize
  /** What ./requantize.ts describes. */
  numbers: usize
  y: usize
  /** What Y holds: 0: int32; 1: float32; 2: uint8; 3: int8. */
  result: u32
  /** Whether X and W hold int8. */
  isSigned: u32
  areSigned: u32
  /** Zero point of X. */
  zero: i32
  /** 0: none; 1: biases are added to the sums; 2: to what is scaled. */
  bias: u32
  /** Input and output channels of a group, and groups of an image. */
  channels: u32
  m: u32
  groups: u32
  /** Whether W is packed; 2 and 3: for dot products (./dots.ts), whose second factors are uint8, int8. */
  isPacked: u32
  /** Panels, or rows of Winograd's tiles, of a block. */
  panels: u32
  /** Parts of a group's output channels, each a whole number of strips of four; see {@link stripsOfPart}. */
  parts: u32
  /** From image to image, from channel to channel and from position to position. */
  xImage: usize
  xChannel: usize
  xUnit: usize
  yImage: usize
  yChannel: usize
  yUnit: usize
  /** Those of Windows follow. */
  inD: i32
}

/** `dots` of ./product-arguments.ts. */
// @ts-ignore: decorator
@inline
export function dotsOf(args: ByteConvArguments): u32 {
  return args.isPacked > 1 ? args.isPacked - 1 : 0
}

/** Strips of four output channels in each part but the last. */
// @ts-ignore: decorator
@inline
export function stripsOfPart(args: ByteConvArguments): u32 {
  return (((args.m + 3) >> 2) + args.parts - 1) / args.parts
}

// @ts-ignore: decorator
@inline
export function windowsOfBytes(args: ByteConvArguments): Windows {
  return changetype<Windows>(changetype<usize>(args) + offsetof<ByteConvArguments>('inD'))
}
