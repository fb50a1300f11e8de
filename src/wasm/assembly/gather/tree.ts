import { TreeArguments } from './arguments'

/** Element types by their number in the arguments. */
const FLOAT32 = 0
const INT32 = 1
const INT64 = 2

/** GatherTree: the batches `from … to-1`. */
export function gatherTree(args: TreeArguments, from: u32, to: u32): bool {
  if (args.type == FLOAT32) return followAll<f32>(args, from, to)
  if (args.type == INT32) return followAll<i32>(args, from, to)
  if (args.type == INT64) return followAll<i64>(args, from, to)
  return followAll<f64>(args, from, to)
}

function followAll<T>(args: TreeArguments, from: u32, to: u32): bool {
  const steps = args.steps
  const beams = args.beams
  const row = <usize>(args.batches * beams) * sizeof<T>()
  const end = load<T>(args.end)
  for (let batch = from; batch < to; batch++) {
    const length = load<T>(args.lengths + <usize>batch * sizeof<T>())
    // Compared before it is converted: a length may be NaN or beyond 32 bits.
    const known = length >= <T>steps ? steps : length >= <T>1 ? <u32>length : 0
    for (let beam: u32 = 0; beam < beams; beam++) {
      if (follow<T>(args, <usize>(batch * beams) * sizeof<T>(), beam, known, row, end)) return true
    }
  }
  return false
}

/**
 * Follows one beam back from its last step to the first, then ends the sequence after its first end token.
 * @param start offset of beam 0 in step 0
 * @param row bytes from one step to the next
 * @returns whether a parent is no beam
 */
function follow<T>(args: TreeArguments, start: usize, beam: u32, length: u32, row: usize, end: T): bool {
  const steps = args.steps
  const own = <usize>beam * sizeof<T>()
  for (let time = length; time < steps; time++) store<T>(args.out + start + <usize>time * row + own, end)
  let from = own
  for (let time = length; time > 0;) {
    time--
    const at = start + <usize>time * row
    store<T>(args.out + at + own, load<T>(args.ids + at + from))
    if (time == 0) break
    const parent = load<T>(args.parents + at + from)
    if (!(parent >= <T>0 && parent < <T>args.beams)) return true
    const whole = <u32>parent
    if (<T>whole != parent) return true
    from = <usize>whole * sizeof<T>()
  }
  let time: u32 = 0
  while (time < length && load<T>(args.out + start + <usize>time * row + own) != end) time++
  for (time++; time < length; time++) store<T>(args.out + start + <usize>time * row + own, end)
  return false
}
