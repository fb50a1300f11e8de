import { InferenceSession } from '../../src/index.ts'
import type { Value } from '../../src/tensor/tensor.ts'
import { heapStats } from '../../src/wasm/heap.ts'

/**
 * Bytes of the heap that a session holds after some runs. The first of two sessions leaves memory behind that kernels
 * share. There is one thread, since a worker takes memory when it starts, which depends on time.
 */
export async function heldBy(model: Uint8Array, feeds: Readonly<Record<string, Value>>, runs: number): Promise<number> {
  let held = 0
  for (let i = 0; i < 2; i++) {
    const session = await InferenceSession.create(model, { threads: 1 })
    const { used } = heapStats()
    for (let run = 0; run < runs; run++) await session.run(feeds)
    held = heapStats().used - used
    session.dispose()
  }
  return held
}
