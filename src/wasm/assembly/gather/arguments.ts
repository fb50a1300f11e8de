/**
 * Arguments of the gather kernels, 32 bits a field. ../../kernels/gather.ts and ../../kernels/gather-tree.ts write them
 * in this order. The addresses of the arrays come first, inputs before the output: the scheduler writes those. An
 * address is that of block 0, even where only the tile that is being computed lies there.
 */
@unmanaged
export class GatherArguments {
  data: usize
  indices: usize
  out: usize
  /** Bytes of an output block: a row, an element or a slice. */
  width: usize
  /** Size of the axis along which the indices count. */
  size: i32
  /** Whether an index has 8 bytes (else 4), counts from the end when negative, gives zeros when out of range. */
  wide: i32
  wrap: i32
  zero: i32
  /** Whether all lines of long blocks are read before these are copied, as they are likely to come from memory. */
  far: i32
}

/** Gather: `data` is `[batch, outer, size]` of rows, `indices` are `[batch, count]`. */
@unmanaged
export class RowsArguments extends GatherArguments {
  outer: u32
  count: u32
}

/** GatherElements: `indices` and `out` are `[…, count, inner]`. */
@unmanaged
export class ElementsArguments extends GatherArguments {
  count: u32
  inner: u32
  /** Elements of `data` from one outer slice to the next, and from one position on the axis to the next. */
  outerStride: usize
  axisStride: usize
  /** Columns of a panel; used by gatherColumns only. */
  columns: u32
}

/** GatherND: `count` tuples of `components` indices belong to each batch. */
@unmanaged
export class TuplesArguments extends GatherArguments {
  count: u32
  /** The sizes of as many axes follow. */
  components: i32
}

/** GatherTree: all arrays have one type; `ids`, `parents` and `out` are `[steps, batches, beams]`. */
@unmanaged
export class TreeArguments {
  ids: usize
  parents: usize
  /** `[batches]` */
  lengths: usize
  /** One element. */
  end: usize
  out: usize
  /** See `ELEMENT_TYPES` in ../../kernels/gather-tree.ts. */
  type: i32
  steps: u32
  batches: u32
  beams: u32
}

/** Bytes of an index. */
// @ts-ignore: decorator
@inline
export function indexBytes(args: GatherArguments): usize {
  return args.wide ? 8 : 4
}
