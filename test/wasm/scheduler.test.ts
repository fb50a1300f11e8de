import { beforeEach, describe, expect, test } from 'vitest'
import { heapAllocate } from '../../src/wasm/heap.ts'
import { unaryTemplate } from '../../src/wasm/kernels/elementwise.ts'
import { runnerOf, writeHeader } from '../../src/wasm/shared-jobs.ts'
import { tilingOf } from '../../src/wasm/tiling.ts'
import { CLOSED, HEADER, workspaceOf } from '../../src/wasm/workspace.ts'

const { accelerated, args, header, job, scratch } = workspaceOf()!
const { enter } = accelerated.kernels

/** Opens a job that has been written, for tiles below `limit`. */
function open(limit: number, admitted = 1): void {
  header[HEADER.limit] = limit
  header[HEADER.admitted] = admitted
  header[HEADER.next] = 0
}

beforeEach(() => {
  header.fill(0)
  header[HEADER.next] = CLOSED
})

describe('a worker that joins a job', () => {
  test('has left a closed one again, though the job before admitted it', () => {
    header[HEADER.admitted] = 1
    header[HEADER.limit] = 4
    expect(enter(job)).toBe(-1)
    expect(header[HEADER.active]).toBe(0)
  })

  test('has left one whose tiles are taken, or that admits no more', () => {
    open(0)
    expect(enter(job)).toBe(-1)
    open(4, 0)
    expect(enter(job)).toBe(-1)
    expect(header[HEADER.active]).toBe(0)
    expect(header[HEADER.next]).toBe(0)
  })

  test('is active from its first tile on, so that the job stays as it is until the worker leaves', () => {
    open(4, 2)
    expect(enter(job)).toBe(0)
    expect(enter(job)).toBe(1)
    expect(header[HEADER.active]).toBe(2)
  })

  test('computes the job that gave it the tile, which may be of another module than the one before', () => {
    const { buffer, byteOffset } = heapAllocate(4 * 8)!
    const [x, y] = [0, 16].map(at => new Float32Array(buffer, byteOffset + at, 4))
    x.set([1, -2, 3, -4])
    const template = unaryTemplate(4, ['clip', 0, Infinity], 1)
    const tiling = tilingOf(template, 1)
    writeHeader(template, header, args.byteOffset, tiling)
    args.set([x.byteOffset, y.byteOffset, ...template.args])
    open(tiling.tiles)
    const first = enter(job)
    expect(header[HEADER.module]).toBe(1)
    runnerOf(template.kernel, accelerated).join(job, scratch, first)
    expect([...y]).toEqual([1, 0, 3, 0])
    expect(header[HEADER.active]).toBe(0)
  })
})
