import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseJsonExact } from '../../../src/io/json-text.ts'
import { readNpy } from '../../../src/io/npy.ts'
import { readNpz } from '../../../src/io/npz.ts'
import { floats, int64s, node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { bools } from '../../ops/model.ts'
import { MODELS, nodewise, nodewiseJson, start } from '../command.ts'
import { palette, runModels, TABLE } from './models.ts'

const { folder, file, gather, identity } = runModels()

describe('run prints outputs', () => {
  test('with name, type, dims and values, as NumPy users know them', async () => {
    expect(await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[1,0,-1]'])).toEqual({
      status: 0,
      stdout: 'y: float32 [3, 3]\n[[10. 11. 12.]\n [ 0.  1.  2.]\n [10. 11. 12.]]\n',
      stderr: ''
    })
  })

  test('as one JSON document with flat data', async () => {
    const { status, json } = await nodewiseJson(['run', gather, '-i', TABLE, '-i', 'ids=[1]', '--json'])
    expect(status).toBe(0)
    expect(json).toEqual({
      outputs: [{ name: 'y', type: 'float32', dims: [1, 3], data: [10, 11, 12] }],
      milliseconds: expect.any(Number) as number
    })
  })

  test('with 64-bit integers exact and NaN and infinities as strings', async () => {
    const { stdout } = await nodewise([
      'run',
      identity,
      '-i',
      'a=[["NaN","Infinity"],["-Infinity",1e-45]]',
      '-i',
      'b=[9007199254740993,-9223372036854775808]',
      '--json'
    ])
    const { outputs } = parseJsonExact(stdout) as unknown as { outputs: { data: unknown[] }[] }
    expect(outputs[0].data.slice(0, 3)).toEqual(['NaN', 'Infinity', '-Infinity'])
    expect(outputs[1].data).toEqual([9007199254740993n, -9223372036854775808n])
  })

  test('of values inside the graph when they are fetched', async () => {
    const chain = file(
      'chain.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [2])],
        outputs: [port('z', 'float', [2])],
        nodes: [node('Neg', ['x'], ['y,1']), node('Neg', ['y,1'], ['z'])]
      })
    )
    const { json } = await nodewiseJson(['run', chain, '-i', 'x=[1,2]', '--fetch', 'y,1', '--fetch', 'z,x', '--json'])
    expect((json.outputs as { name: string }[]).map(({ name }) => name)).toEqual(['y,1', 'z', 'x'])
  })

  test('of nodes that are fetched by name, and of nodes and values by pattern', async () => {
    const layers = file(
      'layers.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [2])],
        outputs: [port('z', 'float', [2])],
        initializers: [floats('/layer.1/w', [2], [3, 4])],
        nodes: [
          { ...node('Mul', ['x', '/layer.1/w'], ['/layer.1/Mul_output_0']), name: '/layer.1/Mul' },
          { ...node('Split', ['/layer.1/Mul_output_0'], ['a', 'b']), name: '/layer.1/Split' },
          { ...node('Concat', ['b', 'a'], ['z'], { axis: 0 }), name: 'join' }
        ]
      })
    )
    const fetched = async (names: string): Promise<unknown> => {
      const { json } = await nodewiseJson(['run', layers, '-i', 'x=[1,2]', '--fetch', names, '--json'])
      return json.error ?? (json.outputs as { name: string; data: unknown }[]).map(({ name, data }) => [name, data])
    }
    const [split, product] = [
      [
        ['a', [3]],
        ['b', [8]]
      ],
      ['/layer.1/Mul_output_0', [3, 8]]
    ]
    expect(await fetched('/layer.1/Split')).toEqual(split)
    expect(await fetched('/layer.1/*')).toEqual([product, ...split])
    expect(await fetched('?,*Mul_*')).toEqual([...split, ['z', [8, 3]], product])
    expect(await fetched('/layer.9/*')).toMatchObject({ code: 'unexpected-input' })
  })

  test('in pieces that fit when they are too many for one text', async () => {
    const { json } = await nodewiseJson([
      'run',
      gather,
      '--fill',
      'ones',
      '--shape',
      'table=2x3',
      '--shape',
      'ids=70000',
      '--json'
    ])
    const [{ data }] = json.outputs as { data: number[] }[]
    expect(data).toHaveLength(210000)
    expect(new Set(data)).toEqual(new Set([1]))
  })
})

describe('run saves outputs', () => {
  test('as .npy files with safe names in a folder', async () => {
    const odd = file(
      'odd.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [2])],
        outputs: [port('a/b:0', 'float'), port('A/B:0', 'float')],
        nodes: [node('Neg', ['x'], ['a/b:0']), node('Abs', ['x'], ['A/B:0'])]
      })
    )
    const out = join(folder, 'out/deep')
    expect((await nodewise(['run', odd, '-i', 'x=[1,-2]', '-o', out])).status).toBe(0)
    const files = readdirSync(out).sort()
    expect(files).toHaveLength(2)
    expect(new Set(files.map(name => name.toLowerCase())).size).toBe(2)
    expect(files.map(name => [...(readNpy(readFileSync(join(out, name))).data as Float32Array)])).toContainEqual([
      -1, 2
    ])
  })

  test('in one .npz', async () => {
    const out = join(folder, 'out.npz')
    expect((await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[1]', '-o', out])).status).toBe(0)
    expect([...(readNpz(readFileSync(out)).get('y')!.data as Float32Array)]).toEqual([10, 11, 12])
  })

  test('and leaves nothing behind when the run fails', async () => {
    const out = join(folder, 'never')
    expect((await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[7]', '-o', out])).status).toBe(2)
    expect(existsSync(out)).toBe(false)
  })

  test('and says in one line where it cannot write', async () => {
    const { status, stderr } = await nodewise([
      'run',
      gather,
      '-i',
      TABLE,
      '-i',
      'ids=[1]',
      '-o',
      join(palette, 'x.npz')
    ])
    expect(status).toBe(2)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('run', () => {
  test('reads zeros for indices out of range when told so', async () => {
    const { json } = await nodewiseJson([
      'run',
      gather,
      '-i',
      TABLE,
      '-i',
      'ids=[9]',
      '--out-of-range',
      'zero',
      '--json'
    ])
    expect((json.outputs as { data: unknown }[])[0].data).toEqual([0, 0, 0])
  })

  test('holds no more memory than it may', async () => {
    const args = ['run', gather, '--fill', 'zeros', '--shape', 'table=2x3', '--shape', 'ids=1000', '--json']
    expect((await nodewise([...args, '--max-memory', '12KiB'])).status).toBe(0)
    expect(await nodewiseJson([...args, '--max-memory', '11kB'])).toMatchObject({
      status: 2,
      json: { error: { code: 'limit-exceeded' } }
    })
    expect(await nodewiseJson([...args, '--max-memory', 'lots'])).toMatchObject({
      status: 2,
      json: { error: { code: 'bad-usage' } }
    })
  })

  test('lists the nodes with --trace', async () => {
    const args = ['run', gather, '-i', TABLE, '-i', 'ids=[1,0]', '--trace']
    const { stdout } = await nodewise(args)
    expect(stdout).toMatch(
      new RegExp(
        String.raw`^name +op +inputs +outputs +ms +values` +
          String.raw`\nGather_y +Gather-17 +float32\[2,3\] int64\[2\] +float32\[2,3\] +\d+\.\d+ ` +
          String.raw`+min 0 max 12 mean 6` +
          String.raw`\n\noperator +calls +ms +share\nGather-17 +1 +\d+\.\d+ +100\.0 %` +
          String.raw`\n\nnode +op +calls +ms +share\nGather_y +Gather-17 +1 +\d+\.\d+ +100\.0 %\n\ny: float32`
      )
    )
    const { json } = await nodewiseJson([...args, '--json'])
    expect(json.trace).toMatchObject([
      { name: 'Gather_y', op: 'Gather', outputs: [{ type: 'float32', dims: [2, 3], min: 0, max: 12, mean: 6 }] }
    ])
  })

  test('takes shares of the time of a run from nodes of functions too, and once of a body and its nodes', async () => {
    const branch = (name: string) => ({
      graph: { outputs: [port(name, 'float')], nodes: [node('Gather', ['a', 'b'], [name])] }
    })
    const choose = node('If', ['c'], ['q'], { then_branch: branch('r'), else_branch: branch('s') })
    const model = file(
      'function.onnx',
      onnxBytes({
        inputs: [port('table', 'float', ['rows', 3]), port('ids', 'int64', ['n']), port('c', 'bool', [])],
        outputs: [port('y', 'float')],
        nodes: [node('pick', ['table', 'ids', 'c'], ['y'], {}, 'own')],
        domains: ['own'],
        functions: [
          {
            name: 'pick',
            domain: 'own',
            opsetImport: [{ domain: '', version: 17 }],
            input: ['a', 'b', 'c'],
            output: ['y'],
            node: [choose, node('Neg', ['q'], ['y'])]
          }
        ]
      })
    )
    const { stdout } = await nodewise(['run', model, '-i', TABLE, '-i', 'ids=[1,0]', '-i', 'c=true', '--trace'])
    const shares = [...stdout.matchAll(/^(\S+)-\d+ +1 +\S+ +(\S+) %$/gm)]
    const share = Object.fromEntries(shares.map(([, operator, percent]) => [operator, Number(percent)]))
    expect(Object.keys(share).sort()).toEqual(['Gather', 'If', 'Neg'])
    expect(share.If + share.Neg).toBeCloseTo(100, 0)
    expect(share.Gather).toBeLessThan(share.If)
  })

  test('writes a Chrome trace with --profile', async () => {
    const out = join(folder, 'profile.json')
    expect(
      (await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[1]', '--profile', out, '--repeat', '2'])).status
    ).toBe(0)
    const { traceEvents } = JSON.parse(readFileSync(out, 'utf8')) as {
      traceEvents: { ph: string; name: string; ts?: number; dur?: number }[]
    }
    const complete = traceEvents.filter(({ ph }) => ph === 'X')
    expect(complete.map(({ name }) => name)).toEqual(['Gather_y', 'Gather_y'])
    expect(complete.every(({ ts = -1, dur = -1 }) => ts >= 0 && dur >= 0)).toBe(true)
  })

  test('prints minimum, median and p95 with --repeat', async () => {
    const run = ['run', gather, '-i', TABLE, '-i', 'ids=[1]']
    const line = /5 runs: minimum \d+\.\d+ ms, median \d+\.\d+ ms, p95 \d+\.\d+ ms.*; [\d.]+ runs a second\n$/
    const { stdout } = await nodewise([...run, '--repeat', '5'])
    expect(stdout).toMatch(line)
    expect(stdout).not.toContain('float32')
    expect((await nodewise([...run, '--repeat', '5', '--print'])).stdout).toMatch(
      new RegExp(String.raw`^y: float32[^]*\n\n${line.source}`)
    )
    const { json } = await nodewiseJson(['run', gather, '-i', TABLE, '-i', 'ids=[1]', '--repeat', '5', '--json'])
    const { runs, minimum, median, p95 } = json.repeat as Record<string, number>
    expect(runs).toBe(5)
    expect(minimum <= median && median <= p95).toBe(true)
  })

  test('runs for as long as --time says, after what --warmup says', async () => {
    const args = ['run', gather, '-i', TABLE, '-i', 'ids=[1]', '--time', '500ms', '--warmup', '3', '--json']
    const began = performance.now()
    const { json } = await nodewiseJson(args)
    expect(performance.now() - began).toBeGreaterThan(500)
    const { runs, warmup, mean, throughput } = json.repeat as Record<string, number>
    expect(warmup).toBe(3)
    expect(runs).toBeGreaterThan(1)
    expect(throughput).toBeCloseTo(1000 / mean, 6)
    const few = (await nodewiseJson([...args, '--repeat', '2'])).json.repeat as Record<string, number>
    expect(few.runs).toBe(2)
  })

  test('sizes dims by their names, in the grammar of --input-shape', async () => {
    const dims = async (...shapes: string[]): Promise<unknown> => {
      const args = ['run', identity, '--fill', 'zeros', ...shapes.flatMap(shape => ['--shape', shape]), '--json']
      return ((await nodewiseJson(args)).json.outputs as { dims: number[] }[] | undefined)?.map(output => output.dims)
    }
    expect(await dims('n=2', 'm=3')).toEqual([[2, 3], [2]])
    expect(await dims('a=[n,4]', 'n=5')).toEqual([[5, 4], [5]])
    expect(await dims('a=[2..9,1]')).toEqual([[2, 1], [2]])
    expect(await nodewise(['run', identity, '--fill', 'zeros', '--shape', 'nn=2'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/no input or dim "nn"; .* dims "n", "m"\n$/) as string
    })
  })

  test('names every operator that it lacks in one failure', async () => {
    const model = file(
      'unknown.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: [port('z', 'float')],
        nodes: [node('NoSuchOp', ['x'], ['y']), node('NorThis', ['y'], ['z'])]
      })
    )
    const { status, stderr } = await nodewise(['run', model, '-i', 'x=[1]'])
    expect(status).toBe(2)
    expect(stderr).toMatch(/NoSuchOp.*NorThis/)
  })

  test('names the models of a folder that is given for one', async () => {
    const { status, stderr } = await nodewise(['run', MODELS])
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/this is a folder; name one model; in it are .*\.onnx, …/)
    ])
  })

  test('ends with 130 and half-written nothing when it is interrupted', async () => {
    const slow = file(
      'slow.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [600, 600])],
        outputs: [port('y', 'float')],
        nodes: Array.from({ length: 50 }, (_, i) =>
          node('MatMul', [i === 0 ? 'x' : `v${i - 1}`, 'x'], [i === 49 ? 'y' : `v${i}`])
        )
      })
    )
    const out = join(folder, 'interrupted')
    const child = start(['run', slow, '--fill', 'zeros', '--repeat', '1000', '-o', out])
    const ended = new Promise<[number | null, string | null]>(resolve =>
      child.on('exit', (code, signal) => resolve([code, signal]))
    )
    await new Promise(resolve => setTimeout(resolve, 1000))
    child.kill('SIGINT')
    const [code, signal] = await ended
    expect(signal ?? code).toSatisfy(value => value === 130 || value === 'SIGINT')
    expect(existsSync(out)).toBe(false)
  })

  test('prints what it had when it is interrupted: the trace, the times, the profile', async () => {
    const slow = file(
      'slow-trace.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [100, 100])],
        outputs: [port('y', 'float')],
        nodes: Array.from({ length: 20 }, (_, i) =>
          node('MatMul', [i === 0 ? 'x' : `v${i - 1}`, 'x'], [i === 19 ? 'y' : `v${i}`])
        )
      })
    )
    const profile = join(folder, 'interrupted.json')
    const interrupted = async (after: number): Promise<{ code: unknown; text: string }> => {
      const child = start(['run', slow, '--fill', 'zeros', '--time', '100s', '--trace', '--profile', profile])
      let text = ''
      child.stdout?.on('data', (piece: Buffer) => {
        text += piece.toString()
      })
      setTimeout(() => child.kill('SIGINT'), after)
      return { code: await new Promise(resolve => child.on('close', resolve)), text }
    }
    let [code, text]: unknown[] = []
    // On a busy machine the command may not have begun to run.
    for (let after = 1000; after < 40_000 && !/\n\d+ runs: minimum/.test(String(text)); after *= 3)
      ({ code, text } = await interrupted(after))
    expect(code).toBe(130)
    expect(text).toMatch(/^name +op +inputs.*\n.*MatMul/)
    expect(text).toMatch(/\n\d+ runs: minimum/)
    expect(JSON.parse(readFileSync(profile, 'utf8'))).toHaveProperty('traceEvents')
  })

  test('ends quietly when nobody reads any more', async () => {
    const child = start(['run', gather, '--fill', 'ones', '--shape', 'table=2x3', '--shape', 'ids=300000', '--json'])
    let words = ''
    child.stderr?.on('data', (text: Buffer) => {
      words += text.toString()
    })
    child.stdout?.once('data', () => child.stdout?.destroy())
    const code = await new Promise(resolve => child.on('exit', resolve))
    expect([code, words]).toEqual([0, ''])
  })
})

test('constants of an initializer need not be given and may be replaced', async () => {
  const model = file(
    'initializer.onnx',
    onnxBytes({
      inputs: [port('ids', 'int64', ['n']), port('table', 'float', [2])],
      outputs: [port('y', 'float')],
      nodes: [node('Gather', ['table', 'ids'], ['y'])],
      initializers: [floats('table', [2], [5, 6])]
    })
  )
  const data = async (args: readonly string[]): Promise<unknown> =>
    ((await nodewiseJson(['run', model, ...args, '--json'])).json.outputs as { data: unknown }[])[0].data
  expect(await data(['-i', 'ids=[1]'])).toEqual([6])
  expect(await data(['-i', 'ids=[1]', '-i', 'table=[7,8]'])).toEqual([8])
  expect(await data(['--fill', 'zeros', '--shape', 'ids=1'])).toEqual([5])
})

test('--timeout ends a run that takes longer', async () => {
  const trip = { initializers: [int64s('trips', [], [2 ** 40]), bools('go', [], [1])] }
  const body = {
    inputs: [port('i', 'int64', []), port('c', 'bool', []), port('s', 'float', [])],
    outputs: [port('c2', 'bool', []), port('s2', 'float', [])],
    nodes: [node('Identity', ['c'], ['c2']), node('Identity', ['s'], ['s2'])]
  }
  const endless = file(
    'endless.onnx',
    onnxBytes({
      ...trip,
      inputs: [port('x', 'float', [])],
      outputs: [port('y', 'float', [])],
      nodes: [node('Loop', ['trips', 'go', 'x'], ['y'], { body: { graph: body } })]
    })
  )
  const { status, stderr } = await nodewise(['run', endless, '-i', 'x=1', '--timeout', '0.05'])
  expect(status).not.toBe(0)
  expect(stderr).toMatch(/more than 50 ms/)
})
