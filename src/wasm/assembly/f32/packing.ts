import { packHalves } from './few-halves'
import { lineWeights } from './line-winograd'
import { packPanel, packPanels, packStrips } from './panels'
import { winogradWeights } from './winograd-weights'

/** A matrix [k][n] into panels of eight columns; steps in bytes. A block is a panel. */
@unmanaged
export class PanelsArguments {
  b: usize
  to: usize
  rowStep: usize
  columnStep: usize
  k: usize
  n: u32
}

export function packToPanels(args: PanelsArguments, from: u32, to: u32): void {
  packPanels(args.b, args.rowStep, args.columnStep, args.k, args.n, args.to, from, to)
}

/**
 * Matrices [rows][k], one behind the other, into strips of four rows, [groups][ceil(rows / 4)][k][4]; steps in bytes. A
 * block is a strip.
 */
@unmanaged
export class StripsArguments {
  a: usize
  to: usize
  rowStep: usize
  kStep: usize
  rows: u32
  k: usize
}

export function packToStrips(args: StripsArguments, from: u32, to: u32): void {
  const rows = args.rows
  const k = args.k
  const strips = (rows + 3) >> 2
  for (let at = from; at < to; at++) {
    const group = at / strips
    const row = (at - group * strips) << 2
    const a = args.a + ((<usize>group * rows * k) << 2) + row * args.rowStep
    packStrips(a, args.rowStep, args.kStep, min<u32>(4, rows - row), k, args.to + ((<usize>at * k) << 4))
  }
}

/** 3 x 3 weights into the matrices of Winograd's algorithm; see `winogradWeights`. A block is a strip. */
@unmanaged
export class WinogradWeightsArguments {
  w: usize
  to: usize
  m: u32
  channels: u32
  side: u32
}

export function packForWinograd(args: WinogradWeightsArguments, scratch: usize, from: u32, to: u32): void {
  winogradWeights(args.w, args.m, args.channels, args.to, from, to, scratch, args.side)
}

/** Weights along one axis into the matrices of Winograd's algorithm; see `lineWeights`. A block is a strip. */
@unmanaged
export class LineWeightsArguments {
  w: usize
  to: usize
  m: u32
  channels: u32
  taps: u32
}

export function packForLines(args: LineWeightsArguments, from: u32, to: u32): void {
  lineWeights(args.w, args.m, args.channels, args.taps, args.to, from, to)
}

/** A matrix all of whose numbers are 16-bit floats into panels of such; see `packHalves`. A block is a panel. */
@unmanaged
export class HalfPanelsArguments extends PanelsArguments {
  isBrain: u32
}

/** Rows that go into all panels of a tile before the next ones, where rows lie one behind the other, and else. */
const ROWS_TOGETHER: usize = 16
const MAX_ROWS: usize = 1 << 10

export function packToHalfPanels(args: HalfPanelsArguments, scratch: usize, from: u32, to: u32): void {
  const k = args.k
  const step = args.columnStep
  const together = step == 4 ? ROWS_TOGETHER : MAX_ROWS
  for (let i: usize = 0; i < k; i += together) {
    const rows = min(together, k - i)
    for (let p = from; p < to; p++) {
      const b = args.b + i * args.rowStep + ((<usize>p) << 3) * step
      packPanel(b, args.rowStep, step, rows, min<u32>(8, args.n - (p << 3)), scratch)
      packHalves(scratch, args.to + ((<usize>p * k + i) << 4), (<u32>rows) << 3, args.isBrain != 0)
    }
  }
}
