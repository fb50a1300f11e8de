import { isDense, readAhead } from './ahead'
import { indexBytes, RowsArguments } from './arguments'
import { copyBlocks, copyColumns } from './blocks'
import { resolve } from './resolve'

/** Positions that are resolved at once where each slice of the data has indices of its own. */
const CHUNK: u32 = 2048
/**
 * Most positions that are resolved once and kept for all slices of a batch, which share them; where a slice has more
 * blocks than are asked for, only those of these blocks are resolved.
 */
const MAX_KEPT: u32 = 16384
/** Most positions for which a slice takes longer to begin than to copy, and slices whose columns are copied in turn. */
const FEW: u32 = 16
const SLICES: u32 = 64

/** `out[b, o, i] = data[b, o, indices[b, i]]` for the output blocks `from … to-1`. */
export function gatherRows(args: RowsArguments, scratch: usize, from: u32, to: u32): bool {
  const count = args.count
  const keep = args.outer > 1 && count <= MAX_KEPT && count <= to - from
  const few = keep && count <= FEW
  const bytes = indexBytes(args)
  const sliceBytes = <usize>args.size * args.width
  let out = args.out + <usize>from * args.width
  let kept: u32 = u32.MAX_VALUE
  let bad = false
  const ahead = keep && isDense(count, sliceBytes)
  const end = args.data + <usize>((to - 1) / count + 1) * sliceBytes
  let read: usize = 0
  for (let at = from; at < to;) {
    const slice = at / count
    const batch = slice / args.outer
    const start = at - slice * count
    let length = min(count - start, to - at)
    let positions = scratch
    if (keep) {
      if (kept != batch) {
        bad = resolve(
          args.indices + <usize>(batch * count) * bytes,
          bool(args.wide),
          count,
          args.size,
          bool(args.wrap),
          scratch
        )
        kept = batch
      }
      positions += (<usize>start) << 2
    } else {
      length = min(length, CHUNK)
      const index = batch * count + start
      bad = resolve(args.indices + <usize>index * bytes, bool(args.wide), length, args.size, bool(args.wrap), scratch)
    }
    if (bad && !args.zero) return true
    const data = args.data + <usize>slice * sliceBytes
    if (few && start == 0 && !bad) {
      const slices = min(SLICES, min((to - at) / count, (batch + 1) * args.outer - slice))
      if (slices > 0 && copyColumns(data, sliceBytes, scratch, count, slices, out, args.width)) {
        out += <usize>(slices * count) * args.width
        at += slices * count
        continue
      }
    }
    if (ahead && data + sliceBytes > read) read = readAhead(data, data + sliceBytes, end)
    copyBlocks(data, positions, length, out, args.width, bad, bool(args.far))
    out += <usize>length * args.width
    at += length
  }
  return false
}
