import { beforeEach, describe, expect, test } from 'vitest'
import { heapAllocate } from '../../src/wasm/heap.ts'
import { unaryTemplate } from '../../src/wasm/kernels/elementwise.ts'
import { closeOpenJob, OpenJob, runTiles } from '../../src/wasm/open-job.ts'
import { runnerOf, writeHeader } from '../../src/wasm/shared-jobs.ts'
import { inWholeTiles } from '../../src/wasm/tiling.ts'
import { CLOSED, HEADER, workspaceOf } from '../../src/wasm/workspace.ts'

const workspace = workspaceOf()!
const { accelerated, args, header, job, scratch } = workspace
const { enter } = accelerated.kernels
const runner = runnerOf('unary', accelerated)
const TILE = 16
const TILES = 6
const COUNT = TILE * TILES
const template = unaryTemplate(COUNT, ['clip', 0, Infinity], 1)
const tiling = inWholeTiles(COUNT, TILE)

const floats = (): Float32Array => {
  const { buffer, byteOffset } = heapAllocate(4 * COUNT)!
  return new Float32Array(buffer, byteOffset, COUNT)
}
const input = floats()
for (let i = 0; i < COUNT; i++) input[i] = i % 2 === 0 ? i : -i
const expected = Float32Array.from(input, value => Math.max(0, value))

/** Writes a job that clips the input. */
function write(to: Float32Array): void {
  writeHeader(template, header, args.byteOffset, tiling)
  args.set([input.byteOffset, to.byteOffset, ...template.args])
}

/** A job whose turns are one tile long. */
const jobOf = (to: Float32Array): OpenJob => new OpenJob(runner, workspace, tiling, () => write(to))
const turn = (open: OpenJob, workers = 0): boolean => open.turn(-1, workers)

/** What a worker does that has been called. @returns whether it had a tile */
function serve(): boolean {
  const first = enter(job)
  if (first >= 0) runner.join(job, scratch, first)
  return first >= 0
}

/** Tiles that have been computed, of an output that was NaN. */
const computed = (out: Float32Array): number => out.filter(value => !Number.isNaN(value)).length / TILE

beforeEach(() => {
  closeOpenJob()
  header.fill(0)
  header[HEADER.next] = CLOSED
})

describe('a job that is computed in turns', () => {
  test('is open between them for the workers that it admits', () => {
    const out = floats().fill(NaN)
    const open = jobOf(out)
    expect(turn(open, 1)).toBe(true)
    expect(computed(out)).toBe(1)
    expect(serve()).toBe(true)
    expect(out).toEqual(expected)
    expect(turn(open, 1)).toBe(false)
    expect(open.hasFailed).toBe(false)
    expect(header[HEADER.active]).toBe(0)
  })

  test('admits workers that come after it has been opened', () => {
    const out = floats().fill(NaN)
    const open = jobOf(out)
    turn(open, 0)
    expect(serve()).toBe(false)
    turn(open, 1)
    expect(serve()).toBe(true)
    expect(out).toEqual(expected)
  })

  test('is closed by another that is written, and goes on where it was', () => {
    const [out, other] = [floats().fill(NaN), floats().fill(NaN)]
    const open = jobOf(out)
    turn(open, 1)
    turn(open, 1)
    write(other)
    expect(serve()).toBe(false)
    expect(runTiles(runner, workspace, tiling, 0)).toBe(true)
    expect(other).toEqual(expected)
    expect(computed(out)).toBe(2)
    out.fill(7, 0, 2 * TILE)
    for (let i = 0; i < TILES && turn(open); i++);
    expect(out).toEqual(Float32Array.from(expected, (value, i) => (i < 2 * TILE ? 7 : value)))
  })

  test('alternates with another', () => {
    const outs = [floats().fill(NaN), floats().fill(NaN)]
    const [one, two] = outs.map(jobOf)
    let turns = 0
    while (turns <= TILES && [one, two].map(open => turn(open)).includes(true)) turns++
    expect(turns).toBe(TILES)
    expect(outs).toEqual([expected, expected])
  })

  test('has failed where a worker has stopped it before another was written', () => {
    const open = jobOf(floats())
    turn(open, 1)
    header[HEADER.failed] = 1
    header[HEADER.next] = CLOSED
    write(floats())
    expect(header[HEADER.failed]).toBe(0)
    runTiles(runner, workspace, tiling, 0)
    expect(turn(open)).toBe(false)
    expect(open.hasFailed).toBe(true)
  })

  test('gives no worker a tile once it has been closed', () => {
    const out = floats().fill(NaN)
    const open = jobOf(out)
    turn(open, 1)
    open.close()
    expect(serve()).toBe(false)
    expect(computed(out)).toBe(1)
    expect(header[HEADER.active]).toBe(0)
  })
})
