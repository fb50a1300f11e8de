import { ConvArguments } from './conv'

/**
 * Winograd F(4x4, 3x3): a tile of 4 x 4 outputs is computed from 6 x 6 inputs with 36 multiplications a channel instead
 * of 144 (Lavin and Gray, 2015). The polynomials behind it are evaluated at 0, the square roots of 1/2 and of 2 with
 * both signs, and infinity. The factors of the transforms then differ less in size than at 0, 1, 2, -1, -2, so that the
 * largest error is a third to a quarter of what it is there (on choosing points: Barabasz and others, 2020).
 *
 * F(2x2, 3x3), in tiles of 2 x 2 outputs, takes 16 multiplications instead of 36, at 0, 1, -1 and infinity.
 *
 * The side of a tile is 4 or 2 outputs.
 */
export const ROOT_OF_HALF: f32 = 0.70710678
export const ROOT_OF_TWO: f32 = 1.41421356

/**
 * Bytes between the matrices of two points: a cache line, lest the same elements of all matrices share a set of the
 * first cache.
 */
export const APART: usize = 64

/**
 * Scratch memory of a group of tile rows: lines of the input, mixed lines of all its tile rows, its tiles, their
 * transformed inputs, and the products of some strips of weights.
 */
@unmanaged
export class Group {
  image: u32
  /** Its first row of tiles, counted over the planes of a channel, and how many. */
  first: u32
  count: u32
  /** Tiles of the group, up to a whole number of vectors. */
  tiles: u32
  /** Bytes of a padded line. */
  wide: usize
  lines: usize
  mixed: usize
  table: usize
  v: usize
  /** Bytes from the transformed inputs of one point to those of the next. */
  matrix: usize
  product: usize
}

/** Rows of tiles of a plane. */
// @ts-ignore: decorator
@inline
export function rowsOfPlane(args: ConvArguments): u32 {
  return (<u32>args.outH + args.side - 1) / args.side
}

/** Inputs of a tile along an axis; the transforms have as many points along it. */
// @ts-ignore: decorator
@inline
export function reachOf(args: ConvArguments): u32 {
  return args.side + 2
}

/** Terms of the sum for each point: input channels, of each window of planes its planes. */
// @ts-ignore: decorator
@inline
export function depthOf(args: ConvArguments): u32 {
  return args.channels * args.kD
}

/** Bytes of a {@link Group}, up to a line of the cache. */
export const GROUP_BYTES: usize = 64

/** A tile: where its mixed lines begin, where its outputs begin in a channel, and its columns and lines in a plane. */
@unmanaged
export class Tile {
  from: usize
  to: usize
  columns: i32
  lines: i32
}

/** Divides scratch memory among the parts of a group, and lists its tiles. */
export function layOut(args: ConvArguments, group: Group, at: usize): void {
  const side = args.side
  const reach = reachOf(args)
  const across = (<u32>args.outW + side - 1) / side
  const count = across * group.count
  const tiles = (count + 3) & ~3
  group.tiles = tiles
  const tileBytes = (<usize>side) << 2
  const wide = ((across * tileBytes + 15) & ~15) + 16
  group.wide = wide
  group.lines = at
  group.mixed = at + wide * reach
  group.table = group.mixed + wide * reach * group.count
  group.v = group.table + tiles * offsetof<Tile>()
  group.matrix = ((tiles * <usize>depthOf(args)) << 2) + APART
  group.product = group.v + reach * reach * group.matrix
  memory.fill(group.lines, 0, wide * reach)
  const perPlane = rowsOfPlane(args)
  for (let i: u32 = 0; i < tiles; i++) {
    // What fills the last vector is computed from the last tile, and stored nowhere.
    const number = min(i, count - 1)
    const row = number / across
    const column = number % across
    const at = group.first + row
    const line = (at % perPlane) * side
    const tile = changetype<Tile>(group.table + i * offsetof<Tile>())
    tile.from = row * wide * reach + column * tileBytes
    tile.to = (<usize>((at / perPlane) * args.outH + line) * args.outW + <usize>(column * side)) << 2
    tile.columns = i < count ? args.outW - <i32>(column * side) : 0
    tile.lines = i < count ? args.outH - <i32>line : 0
  }
}
