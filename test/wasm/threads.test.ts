import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** What the processes import of src/, which is bundled once for all of them. */
const MODULES = [
  'ops/gather/gather',
  'ops/gather/gather-elements',
  'ops/matrix/matmul',
  'tensor/tensor',
  'wasm/heap',
  'wasm/jobs',
  'wasm/kernels/gather',
  'wasm/open-job',
  'wasm/select',
  'wasm/shared-jobs',
  'wasm/threads',
  'wasm/tiling',
  'wasm/workspace'
]
const folder = mkdtempSync(join(tmpdir(), 'nodewise-threads-'))
beforeAll(() => {
  buildSync({
    entryPoints: MODULES.map(name => `src/${name}.ts`),
    outbase: 'src',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20'
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs code that may import the modules above in a process of its own; what it prints. */
function runAlone(code: string): string {
  const input = code.replace(
    /'\.\/src\/(\S+)\.ts'/g,
    (_, name) => `'${pathToFileURL(join(folder, `${name}.mjs`)).href}'`
  )
  return execFileSync(process.execPath, ['--input-type=module', '-'], { input, encoding: 'utf8', timeout: 50_000 })
}

/** A gather of 8 MB on the heap, run over and over by `threads` threads. */
const SETUP = `
import { gather as operator } from './src/ops/gather/gather.ts'
import { select } from './src/wasm/select.ts'
import { heapAllocate } from './src/wasm/heap.ts'
import { workersStarted } from './src/wasm/threads.ts'
import { Tensor } from './src/tensor/tensor.ts'
const view = (Storage, length) => {
  const block = heapAllocate(length * Storage.BYTES_PER_ELEMENT)
  return new Storage(block.buffer, block.byteOffset, length)
}
const rows = 2000, width = 256, count = 8192
const table = new Tensor('float32', view(Float32Array, rows * width), [rows, width])
table.data.forEach((_, i) => { table.data[i] = i })
const ids = view(BigInt64Array, count)
const indices = new Tensor('int64', ids, [count])
const out = new Tensor('float32', view(Float32Array, count * width), [count, width])
const policy = { negative: 'wrap', outOfRange: 'error' }
const runSelected = (op, operands, params, out, threads) => {
  const outputs = [{ kind: 'tensor', type: out.type, shape: out.dims }]
  const { kernel } = select(op, operands, { parameters: params, outputs })
  for (const _ of kernel(operands, params, { rawOutput: () => out, threads }));
}
const gather = threads =>
  runSelected(operator, { data: table, indices }, { axis: 0, batchDims: 0, ...policy }, out, threads)
const wrong = () => {
  for (let i = 0; i < count; i++) {
    const first = Number(ids[i]) * width
    for (let j = 0; j < width; j++) if (out.data[i * width + j] !== first + j) return i * width + j
  }
  return -1
}
const RUNS = 30
const pause = () => new Promise(resolve => setTimeout(resolve, 5))
`

describe.skipIf(availableParallelism() < 2)('threads', () => {
  test('share a gather, give what one thread gives, find what is out of range, and let the process end', () => {
    const out = runAlone(`${SETUP}
      for (let runs = 0; runs < RUNS; runs++) {
        for (let i = 0; i < count; i++) ids[i] = BigInt((i * 7919 + runs * 31) % rows)
        out.data.fill(-1)
        gather(2)
        if (wrong() >= 0) throw new Error('wrong at ' + wrong() + ' in run ' + runs)
        await pause()
      }
      ids[5000] = 2000n
      try { gather(2) } catch (error) { console.log(error.message) }
      ids[5000] = 0n
      gather(2)
      console.log(wrong(), workersStarted())
    `)
    expect(out).toBe('index 2000 at [5000] is out of range for axis 0 of size 2000\n-1 1\n')
  })

  test('compute parts of arrays that are not on the heap while the main thread copies others', () => {
    const out = runAlone(`
      import { gatherElements } from './src/ops/gather/gather-elements.ts'
      ${SETUP}
      const params = { axis: 0, batchDims: 0, ...policy }
      const failures = []
      for (const width of [1, 250, 2000]) {
        const data = new Tensor('float32', view(Float32Array, 300 * width), [300, width])
        data.data.forEach((_, i) => { data.data[i] = i })
        const count = Math.ceil(1.5e6 / width)
        for (const [type, Storage, convert] of [['int64', BigInt64Array, BigInt], ['uint8', Uint8Array, Number]]) {
          const list = new Tensor(type, new Storage(count), [count])
          const rows = new Tensor('float32', new Float32Array(count * width), [count, width])
          for (let run = 0; run < 5; run++) {
            for (let i = 0; i < count; i++) list.data[i] = convert((i * 7 + run * 31) % 200)
            rows.data.fill(-1)
            runSelected(operator, { data, indices: list }, params, rows, 2)
            for (let i = 0; i < rows.data.length; i++)
              if (rows.data[i] !== Number(list.data[Math.floor(i / width)]) * width + i % width)
                throw new Error('wrong at ' + [width, type, run, i])
            await pause()
          }
        }
        const bad = new Tensor('int64', new BigInt64Array(count), [count])
        bad.data[count - 1] = 300n
        const rows = new Tensor('float32', new Float32Array(count * width), [count, width])
        try { runSelected(operator, { data, indices: bad }, params, rows, 2) } catch (error) {
          failures.push(error.message.includes('[' + (count - 1) + '] is out of range'))
        }
      }
      const size = 1500
      const grid = new Tensor('int8', view(Int8Array, size * size), [size, size])
      grid.data.forEach((_, i) => { grid.data[i] = i * 7 })
      const at = new Tensor('int32', new Int32Array(size * size), [size, size])
      at.data.forEach((_, i) => { at.data[i] = (i * 13) % size })
      const picked = new Tensor('int8', new Int8Array(size * size), [size, size])
      runSelected(gatherElements, { data: grid, indices: at }, { axis: 1, ...policy }, picked, 2)
      picked.data.forEach((value, i) => {
        if (value !== grid.data[Math.floor(i / size) * size + at.data[i]]) throw new Error('wrong at ' + i)
      })
      console.log(failures.join(), workersStarted())
    `)
    expect(out).toBe('true,true,true 1\n')
  })

  test('go on with such a gather that one thread has begun, and read no index of another part', () => {
    const out = runAlone(`
      import { runJob } from './src/wasm/jobs.ts'
      import { gatherJobs } from './src/wasm/kernels/gather.ts'
      import { workspaceOf } from './src/wasm/workspace.ts'
      ${SETUP}
      const [size, line, found] = [200, 5, 4e6]
      const data = new Tensor('float32', view(Float32Array, size * line), [size, line])
      data.data.forEach((_, i) => { data.data[i] = i })
      const list = new Tensor('int64', BigInt64Array.from({ length: found }, (_, i) => BigInt((i * 7) % size)), [found])
      const target = new Float32Array(found * line).fill(-1)
      // Whatever is not staged is out of range.
      workspaceOf().inputStage.bytes.fill(127)
      const [template] = gatherJobs({ data, indices: list }, { axis: 0, batchDims: 0, ...policy })
      const job = runJob(template, [data.data, list.data], target, 2)
      let pauses = 0
      let step = job.next()
      for (; !step.done; step = job.next()) {
        pauses++
        for (let i = 0; i < 20; i++) await pause()
      }
      const isRight = target.every((value, i) => value === ((Math.floor(i / line) * 7) % size) * line + (i % line))
      console.log(step.value, isRight, pauses > 0, workersStarted())
    `)
    expect(out).toBe('true true true 1\n')
  })

  test('share a gather of elements along an axis that is not the last, too', () => {
    const out = runAlone(`
      import { gatherElements } from './src/ops/gather/gather-elements.ts'
      ${SETUP}
      const square = () => [1024, 1024]
      const grid = new Tensor('float32', view(Float32Array, 2 ** 20), square())
      const at = new Tensor('int64', view(BigInt64Array, 2 ** 20), square())
      const picked = new Tensor('float32', view(Float32Array, 2 ** 20), square())
      // The lower halves of the indices: to make a million numbers of 64 bits takes longer than all else.
      const halves = new Uint32Array(at.data.buffer, at.data.byteOffset, 2 ** 21)
      const row = (i, run) => (Math.imul(i, 7919) + run) & 1023
      for (let i = 0; i < 2 ** 20; i++) grid.data[i] = i
      for (let run = 0; run < 20; run++) {
        for (let i = 0; i < 2 ** 20; i++) halves[2 * i] = row(i, run)
        picked.data.fill(-1)
        runSelected(gatherElements, { data: grid, indices: at }, { axis: 0, ...policy }, picked, 2)
        for (let i = 0; i < 2 ** 20; i++)
          if (picked.data[i] !== row(i, run) * 1024 + (i & 1023)) throw new Error('wrong at ' + i + ' in run ' + run)
        await pause()
      }
      console.log(workersStarted())
    `)
    expect(out).toBe('1\n')
  })

  test('are not started for one thread', () => {
    const out = runAlone(`${SETUP}
      for (let i = 0; i < 40; i++) { gather(1); await pause() }
      console.log(workersStarted())
    `)
    expect(out).toBe('0\n')
  })

  test('of Node have little memory for new objects, since they keep none', () => {
    const out = runAlone(`
      const threads = process.getBuiltinModule('node:worker_threads')
      threads.Worker = class extends threads.Worker {
        constructor(...given) {
          super(...given)
          console.log(this.resourceLimits.maxYoungGenerationSizeMb)
        }
      }
      ${SETUP}
      while (workersStarted() === 0) { gather(2); await pause() }
    `)
    expect(out).toBe('1\n')
  })

  test('take no processor time while nothing is to be done, also while a run waits for something else', () => {
    const out = runAlone(`
      import { enterRun, leaveRun } from './src/wasm/threads.ts'
      ${SETUP}
      const idle = async () => {
        gather(2)
        // Work that a busy machine has put off, such as starting the worker, ends; what spins never does.
        for (let i = 0; i < 20; i++) {
          const before = process.cpuUsage()
          await new Promise(resolve => setTimeout(resolve, 600))
          const { user, system } = process.cpuUsage(before)
          if ((user + system) / 1000 < 100) return true
        }
        return false
      }
      for (let i = 0; i < 40; i++) { gather(2); await pause() }
      console.log(workersStarted(), await idle())
      enterRun()
      console.log(await idle())
      leaveRun()
      console.log(await idle())
    `)
    expect(out).toBe('1 true\ntrue\ntrue\n')
  })

  test('share products of few rows, and the packing of their panels, and give what one thread gives', () => {
    const out = runAlone(`
      import { matmul } from './src/ops/matrix/matmul.ts'
      import { enterRun } from './src/wasm/threads.ts'
      ${SETUP}
      const random = seed => () => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff) - 0.5
      const filled = (dims, next) => {
        const tensor = new Tensor('float32', view(Float32Array, dims[0] * dims[1]), dims)
        tensor.data.forEach((_, i) => { tensor.data[i] = next() })
        return tensor
      }
      for (let i = 0; i < 40; i++) { gather(2); await pause() }
      enterRun()
      const results = []
      const sizes = [[1, 512, 512], [1, 300, 2817], [2, 512, 1000], [3, 257, 1407], [4, 512, 999]]
      const onHeap = (_type, dims) => new Tensor('float32', view(Float32Array, dims.reduce((a, b) => a * b)), dims)
      for (const [rows, depth, columns] of sizes) {
        const next = random(rows * columns)
        const [a, b] = [filled([rows, depth], next), filled([depth, columns], next)]
        const parameters = { transposeA: false, transposeB: false, alpha: 1 }
        const type = { kind: 'tensor', type: 'float32', shape: [rows, columns] }
        const { kernel, pack } = select(matmul, { a, b }, { parameters, outputs: [type] })
        const packedBy = threads => {
          const making = pack({ b }, parameters, { allocate: onHeap, threads })
          let step = making.next()
          while (!step.done) step = making.next()
          return step.value
        }
        const packed = packedBy(1)
        for (let i = 0; i < 10; i++)
          if (packedBy(2).b.data.some((value, at) => value !== packed.b.data[at])) throw new Error('badly packed')
        const product = threads => {
          const out = new Tensor('float32', view(Float32Array, rows * columns).fill(NaN), [rows, columns])
          for (const _ of kernel({ a, b }, parameters, { rawOutput: () => out, threads, packed }) ?? []);
          return out.data
        }
        const alone = product(1)
        for (let run = 0; run < 50; run++) {
          const shared = product(2)
          if (shared.some((value, i) => value !== alone[i])) throw new Error('wrong in ' + [rows, depth, columns, run])
        }
        results.push(columns)
      }
      console.log(workersStarted(), results.join())
    `)
    expect(out).toBe('1 512,2817,1000,1407,999\n')
  })

  test('go on after a kernel that trapped in one of them or in the main thread', () => {
    const out = runAlone(`
      import { runJob } from './src/wasm/jobs.ts'
      ${SETUP}
      for (let i = 0; i < 40; i++) { gather(2); await pause() }
      const [from, to] = [view(Float32Array, 2 ** 20), view(Float32Array, 2 ** 20)]
      // Lies beyond the memory as it is now.
      const far = new Float32Array(from.buffer, from.byteOffset, 16)
      Object.defineProperty(far, 'byteOffset', { value: 2 ** 32 - 2 ** 22 })
      const unary = array => ({
        template: {
          kernel: 'unary', blocks: 2 ** 20, blockBytes: 4, tile: 2 ** 12, work: 2 ** 23, inputs: [{ staging: 'whole' }],
          outputStaging: 'whole', args: [12, 0, 0]
        },
        inputs: [array]
      })
      const run = ({ template, inputs }) => {
        const steps = runJob(template, inputs, to, 2)
        for (;;) { const { done, value } = steps.next(); if (done) return value }
      }
      let traps = 0
      from.forEach((_, i) => { from[i] = -i })
      for (let i = 0; i < 50; i++) {
        try {
          if (!run(unary(far))) traps++
        } catch (error) {
          if (error instanceof WebAssembly.RuntimeError) traps++
        }
        to.fill(-1)
        if (!run(unary(from))) throw new Error('failed')
        for (let at = 0; at < 2 ** 20; at++) if (to[at] !== at) throw new Error('wrong')
      }
      console.log(traps, workersStarted())
    `)
    expect(out).toBe('50 1\n')
  })

  test('go on with a job while its run pauses, unless another is written, and never after it has ended', () => {
    const out = runAlone(`
      import { runJob } from './src/wasm/jobs.ts'
      import { OpenJob } from './src/wasm/open-job.ts'
      import { runnerOf, writeHeader } from './src/wasm/shared-jobs.ts'
      import { inWholeTiles } from './src/wasm/tiling.ts'
      import { CLOSED, HEADER, workspaceOf } from './src/wasm/workspace.ts'
      ${SETUP}
      for (let i = 0; i < 40; i++) { gather(2); await pause() }
      const [size, small] = [2 ** 22, 2 ** 16]
      const from = view(Float32Array, size)
      from.forEach((_, i) => { from[i] = -i })
      // Negated: a large job pauses after each tile, since it is said to be large; a small one is run in one go.
      const job = (count, work) => ({
        kernel: 'unary', blocks: count, blockBytes: 4, tile: 2 ** 12, work, inputs: [{ staging: 'whole' }],
        outputStaging: 'whole', args: [12, 0, 0]
      })
      const outs = [0, 1, 2].map(() => view(Float32Array, size))
      const begin = (i, count = size, work = 2 ** 24) => runJob(job(count, work), [from.subarray(0, count)], outs[i], 2)
      const bytes = (array, count = size) => Buffer.from(array.buffer, array.byteOffset, 4 * count)
      const expected = Float32Array.from(from, value => -value)
      const untouched = new Float32Array(size).fill(-1)
      const check = (array, other, count) => {
        if (Buffer.compare(bytes(array, count), bytes(other, count)) !== 0) throw new Error('wrong')
      }
      const finish = steps => {
        for (;;) { const { done, value } = steps.next(); if (done) return value }
      }
      const { header } = workspaceOf()
      for (let round = 0; round < 10; round++) {
        outs.forEach(array => array.fill(-1))
        const runs = [begin(0), begin(1)]
        const results = []
        while (results.length < 2)
          for (const [i, steps] of runs.entries()) {
            if (results.includes(i)) continue
            const { done, value } = steps.next()
            if (done && value) results.push(i)
            else if (done) throw new Error('failed')
          }
        check(outs[0], expected)
        check(outs[1], expected)
        // A run that is given up: nothing is written any more.
        const given = begin(0)
        given.next()
        given.return()
        if (Atomics.load(header, HEADER.next) < CLOSED) throw new Error('open after its end')
        outs[0].fill(-1)
        await pause()
        check(outs[0], untouched)
      }
      // Turns of one tile: however fast the machine is, the job pauses, and a small one is written meanwhile.
      const template = job(size, 2 ** 24)
      const { accelerated, args } = workspaceOf()
      const write = tiling => {
        writeHeader(template, header, args.byteOffset, tiling)
        args.set([from.byteOffset, outs[0].byteOffset, ...template.args])
      }
      for (let round = 0; round < 4; round++) {
        outs.forEach(array => array.fill(-1))
        const paused = new OpenJob(
          runnerOf('unary', accelerated), workspaceOf(), inWholeTiles(size, template.tile), write
        )
        for (let turns = 0; paused.turn(-1, 1); turns++)
          if (turns % 50 === 0) {
            if (!finish(begin(2, small, 2 ** 20))) throw new Error('failed')
            check(outs[2], expected, small)
            outs[2].fill(-1, 0, small)
          }
        check(outs[0], expected)
        check(outs[2], untouched)
      }
      let isTaken = false
      for (let attempt = 0; attempt < 100 && !isTaken; attempt++) {
        const tiling = inWholeTiles(size, template.tile)
        const open = new OpenJob(runnerOf('unary', accelerated), workspaceOf(), tiling, write)
        open.turn(-1, 1)
        const before = Atomics.load(header, HEADER.next)
        const isChanged = () => Atomics.load(header, HEADER.next) !== before
        for (let i = 0; i < 200 && before < tiling.tiles && !isChanged(); i++) await pause()
        isTaken = before < tiling.tiles && isChanged()
        open.close()
      }
      console.log(isTaken, workersStarted())
    `)
    expect(out).toBe('true 1\n')
  })

  test('do not hold up an exit', () => {
    const out = runAlone(`${SETUP}
      for (let i = 0; i < 40; i++) { gather(2); await pause() }
      console.log(workersStarted())
      process.exit(0)
    `)
    expect(out).toBe('1\n')
  })
})
