import { expect } from 'vitest'
import { Tensor } from '../../src/tensor/tensor.ts'
import { heapAllocate, heapFree } from '../../src/wasm/heap.ts'
import { packByJob, type PackJob } from '../../src/wasm/pack.ts'

/**
 * Bytes that a job packs, a tile at a time, in one thread. What it leaves out holds bytes that are all ones, which are
 * NaN in float32.
 * @param sources bytes that it reads
 * @param length of the bytes that it writes
 * @param tile blocks of a tile
 */
export function packedBytes(
  job: Omit<PackJob, 'elements'>,
  sources: readonly ArrayBufferView[],
  length: number,
  tile: number
): Uint8Array<ArrayBuffer> {
  const blocks = [...sources.map(({ byteLength }) => byteLength), length].map(bytes => heapAllocate(bytes)!)
  const tensors = blocks.map(({ buffer, byteOffset, byteLength }) => {
    const bytes = new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
    return new Tensor('uint8', bytes, [byteLength])
  })
  sources.forEach(({ buffer, byteOffset, byteLength }, i) =>
    tensors[i].data.set(new Uint8Array(buffer, byteOffset, byteLength))
  )
  const out = tensors[sources.length]
  out.data.fill(255)
  const packing = packByJob({ ...job, tile, elements: length }, tensors.slice(0, -1), out, 1)
  let step = packing.next()
  while (!step.done) step = packing.next()
  expect(step.value).toBe(out)
  const packed = out.data.slice(0, length)
  blocks.forEach(heapFree)
  return packed
}
