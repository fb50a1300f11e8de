import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { narrowed } from '../halves.ts'
import { isOnHeap } from '../heap.ts'
import type { Temporaries } from '../temporary.ts'
import { copyWide, type FloatHeads, floatsOf, inBlocks, type PlacedHeads, type Sizes } from './grouped-heads.ts'

/**
 * Makes a present where it is wanted, and gives what is attended to from the first such key on: the present itself, or
 * of 16 bits and where there is none, the rows that count, the fresh ones as they were before rounding.
 */
export function* extended(
  fresh: FloatHeads,
  past: Tensor | undefined,
  present: Tensor | undefined,
  sizes: Sizes,
  parts: Temporaries
): Generator<void, FloatHeads> {
  const { batches, shared, size, rows, first } = sizes
  if (present?.type === 'float32') {
    const to = floatsOf(present)
    extend(fresh, past && floatsOf(past), to, sizes)
    return { numbers: to.subarray(first * size), steps: inBlocks(shared, rows, size) }
  }
  if (present) {
    const codes = fresh.codes ?? (yield* rounded(fresh.numbers, present.type, parts))
    extend(
      { numbers: codes, steps: fresh.steps },
      past && (past.data as Uint16Array),
      present.data as Uint16Array,
      sizes
    )
  }
  const before = sizes.past.map(count => count - first)
  const most = Math.max(...before)
  if (most === 0) return fresh
  const kept = most + sizes.fresh
  const numbers = parts.allocate(batches * shared * kept * size)
  for (let at = 0; at < batches * shared; at++) {
    const start = at * kept * size
    const to = numbers.subarray(start, start + before[Math.floor(at / shared)] * size)
    yield* copyWide(past!, (at * sizes.capacity + first) * size, to)
  }
  place(fresh, numbers, kept, { ...sizes, past: before })
  return { numbers, steps: inBlocks(shared, kept, size) }
}

/** Numbers in 16 bits. */
function* rounded(
  numbers: Float32Array,
  type: Tensor['type'],
  parts: Temporaries
): Generator<void, Uint16Array<ArrayBufferLike>> {
  const room = parts.allocate(Math.ceil(numbers.length / 2))
  const codes = new Uint16Array(room.buffer, room.byteOffset, numbers.length)
  const from = new Tensor('float32', numbers, [numbers.length])
  const to = new Tensor(type, codes as never, [numbers.length])
  // Rounded into an array elsewhere, numbers on the heap would be lost.
  yield* isOnHeap(codes) ? narrowed(from, to) : convertPaced(from, to)
  return codes
}

/** The present: the rows of the past, unless they are there, then the fresh ones, then zeros. */
function extend<A extends Float32Array | Uint16Array>(
  own: PlacedHeads<A>,
  from: A | undefined,
  to: A,
  sizes: Sizes
): void {
  const { batches, shared, fresh, size, capacity, rows } = sizes
  for (let at = 0; from !== to && at < batches * shared; at++) {
    const start = at * rows * size
    const past = sizes.past[Math.floor(at / shared)]
    if (from) to.set(from.subarray(at * capacity * size, (at * capacity + past) * size), start)
    to.fill(0, start + (past + fresh) * size, start + rows * size)
  }
  place(own, to, rows, sizes)
}

/** Writes the fresh rows of heads of `rows` rows, which follow those of the past. */
function place<A extends Float32Array | Uint16Array>(
  { numbers, steps }: PlacedHeads<A>,
  to: A,
  rows: number,
  { batches, shared, fresh, size, past }: Sizes
): void {
  // Rows that follow one another go at once.
  const [runs, count] = steps[2] === size ? [1, fresh] : [fresh, 1]
  const length = count * size
  for (let batch = 0; batch < batches; batch++)
    for (let head = 0; head < shared; head++) {
      const own = batch * steps[0] + head * steps[1]
      let next = ((batch * shared + head) * rows + past[batch]) * size
      for (let run = 0; run < runs; run++, next += length)
        to.set(numbers.subarray(own + run * steps[2], own + run * steps[2] + length), next)
    }
}
