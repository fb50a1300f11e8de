import { PanelsArguments } from '../f32/packing'
import { DOT_STRIP, packDotPanels } from './dots'
import { dotStripBytes, packDotStrip } from './dot-strips'
import { packBytePanels } from './panels'
import { packByteStrip, stripBytes } from './strips'
import { packByteWinograd } from './winograd-weights'

/** A matrix of bytes [k][n] into panels of eight columns. A block is a panel. */
@unmanaged
export class BytePanelsArguments extends PanelsArguments {
  /** 128 for uint8, which turns a code into the int8 code that is smaller by 128; else 0. */
  flip: u32
  /** Whether for products of four bytes, with the sums of the columns behind each panel. */
  isForDots: u32
}

export function packToBytePanels(args: BytePanelsArguments, from: u32, to: u32): void {
  const k = <u32>args.k
  if (args.isForDots) packDotPanels(args.b, args.rowStep, args.columnStep, k, args.n, args.flip, args.to, from, to)
  else packBytePanels(args.b, args.rowStep, args.columnStep, k, args.n, args.flip, args.to, from, to)
}

/** Weights of bytes [groups][m][k] into strips of output channels, [groups][ceil(m / 4 or 6)]. A block is a strip. */
@unmanaged
export class ByteStripsArguments {
  w: usize
  /** The zero point of each output channel, in int32. */
  zeros: usize
  to: usize
  m: u32
  k: u32
  isSigned: u32
}

/** Into strips of four channels, less zero points. */
export function packToByteStrips(args: ByteStripsArguments, from: u32, to: u32): void {
  const m = args.m
  const k = args.k
  const strips = (m + 3) >> 2
  for (let at = from; at < to; at++) {
    const group = at / strips
    const row = (at - group * strips) << 2
    const channel = group * m + row
    const zeros = args.zeros + ((<usize>channel) << 2)
    const strip = args.to + at * stripBytes(k)
    packByteStrip(args.w + <usize>channel * k, k, min<u32>(4, m - row), args.isSigned != 0, zeros, strip)
  }
}

/** Into strips of six channels for products of four bytes; all zero points are 0, or 128 of uint8. */
export function packToDotStrips(args: ByteStripsArguments, from: u32, to: u32): void {
  const m = args.m
  const k = args.k
  const flip: u32 = args.isSigned ? 0 : 128
  const strips = (m + DOT_STRIP - 1) / DOT_STRIP
  for (let at = from; at < to; at++) {
    const group = at / strips
    const row = (at - group * strips) * DOT_STRIP
    const w = args.w + <usize>(group * m + row) * k
    packDotStrip(w, k, min<u32>(DOT_STRIP, m - row), flip, args.to + at * dotStripBytes(k))
  }
}

/** 3 x 3 weights [m][k / 9][3][3] into strips of the matrices of Winograd's algorithm, less zero points. */
export function packForByteWinograd(args: ByteStripsArguments, from: u32, to: u32): void {
  const m = args.m
  const channels = args.k / 9
  const bytes = stripBytes(channels)
  const matrix = <usize>((m + 3) >> 2) * bytes
  for (let at = from; at < to; at++) {
    const row = at << 2
    const zeros = args.zeros + ((<usize>row) << 2)
    const w = args.w + <usize>row * args.k
    packByteWinograd(w, channels, min<u32>(4, m - row), args.isSigned != 0, zeros, matrix, args.to + at * bytes)
  }
}
