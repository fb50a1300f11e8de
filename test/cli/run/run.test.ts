import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseJsonExact } from '../../../src/io/json-text.ts'
import { readNpy, writeNpy } from '../../../src/io/npy.ts'
import { readNpz, writeNpz } from '../../../src/io/npz.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { floats, int64s, node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { bools } from '../../ops/model.ts'
import { MODELS, nodewise, nodewiseJson, nodewiseProcess, start, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const palette = join(MODELS, 'palette.onnx')
const gather = file(
  'gather.onnx',
  onnxBytes({
    inputs: [port('table', 'float', ['rows', 3]), port('ids', 'int64', ['n'])],
    outputs: [port('y', 'float', ['n', 3])],
    nodes: [node('Gather', ['table', 'ids'], ['y'])]
  })
)
const identity = file(
  'identity.onnx',
  onnxBytes({
    inputs: [port('a', 'float', ['n', 'm']), port('b', 'int64', ['n'])],
    outputs: [port('x', 'float'), port('y', 'int64')],
    nodes: [node('Identity', ['a'], ['x']), node('Identity', ['b'], ['y'])]
  })
)
const TABLE = 'table=[[0,1,2],[10,11,12]]'

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

describe('run takes inputs', () => {
  const ids = new Tensor('int64', [1n, 0n], [2])
  const table = new Tensor('float32', new Float32Array([0, 1, 2, 10, 11, 12]), [2, 3])
  const result = async (args: readonly string[]): Promise<unknown> =>
    ((await nodewiseJson(['run', gather, ...args, '--json'])).json.outputs as { data: unknown }[])[0].data
  const expected = [10, 11, 12, 0, 1, 2]

  test('from .npy and .json files beside literals', async () => {
    expect(await result(['-i', `table=${file('table.npy', writeNpy(table))}`, '-i', 'ids=[1,0]'])).toEqual(expected)
    expect(
      await result([
        '-i',
        `table=${file('table.json', '[[0,1,2],[10,11,12]]')}`,
        '-i',
        `ids=${file('ids.npy', writeNpy(ids))}`
      ])
    ).toEqual(expected)
  })

  test('from an .npz, from a .json of names, from a folder by position', async () => {
    expect(
      await result([
        '--inputs',
        file(
          'all.npz',
          writeNpz(
            new Map<string, Tensor>([
              ['ids', ids],
              ['table', table]
            ])
          )
        )
      ])
    ).toEqual(expected)
    expect(await result(['--inputs', file('all.json', '{"ids": [1, 0], "table": [[0,1,2],[10,11,12]]}')])).toEqual(
      expected
    )
    mkdirSync(join(folder, 'set'))
    file('set/input_0.npy', writeNpy(table))
    file('set/input_1.json', '[1, 0]')
    expect(await result(['--inputs', join(folder, 'set')])).toEqual(expected)
    expect(await result(['--inputs', join(folder, 'set'), '-i', 'ids=[0,0]'])).toEqual([0, 1, 2, 0, 1, 2])
  })

  test('in the element type that the model declares', async () => {
    const { json } = await nodewiseJson(['run', identity, '-i', 'a=[[1,2]]', '-i', 'b=[3]', '--json'])
    expect((json.outputs as { type: string }[]).map(({ type }) => type)).toEqual(['float32', 'int64'])
  })

  test('filled with zeros, ones or reproducible random numbers', async () => {
    const filled = async (how: string): Promise<unknown> =>
      (
        (await nodewiseJson(['run', identity, '--fill', how, '--shape', 'a=2x3', '--json'])).json.outputs as {
          data: unknown
        }[]
      ).map(({ data }) => data)
    expect(await filled('zeros')).toEqual([
      [0, 0, 0, 0, 0, 0],
      [0, 0]
    ])
    expect(await filled('ones')).toEqual([
      [1, 1, 1, 1, 1, 1],
      [1, 1]
    ])
    expect(await filled('random:5')).toEqual(await filled('random:5'))
    expect(await filled('random:5')).not.toEqual(await filled('random:6'))
  })

  test('and says which dim it cannot know', async () => {
    const { status, stderr } = await nodewise(['run', gather, '--fill', 'zeros', '-i', 'ids=[0]'])
    expect(status).toBe(2)
    expect(stderr).toBe(
      `${gather}: dim 0 of input "table" is "rows"; say how large it is to be, for example --shape rows=2\n`
    )
  })

  test.each([
    ['a name that the model lacks', ['-i', 'idx=[1]'], 'unexpected-input'],
    ['an input twice', ['-i', 'ids=[1]', '-i', 'ids=[2]'], 'bad-usage'],
    ['a value without a name', ['-i', '[1]'], 'bad-usage'],
    ['text that is no JSON', ['-i', 'ids=[1'], 'invalid-file'],
    ['ragged lists', ['-i', 'table=[[1,2,3],[4]]'], 'shape-mismatch'],
    ['fractions for integers', ['-i', 'ids=[0.5]'], 'type-mismatch'],
    ['a file that is not there', ['-i', 'ids=none.npy'], 'missing-file'],
    ['too few inputs', ['-i', 'ids=[1]'], 'missing-input'],
    ['another rank', ['-i', 'ids=[[1]]', '-i', TABLE], 'rank-mismatch'],
    ['a shape without --fill', ['--shape', 'ids=3'], 'bad-usage'],
    ['a shape that is none', ['--fill', 'zeros', '--shape', 'ids=axb'], 'bad-usage'],
    ['an unknown way to fill', ['--fill', 'twos'], 'bad-usage'],
    ['a value to fetch that is not there', ['-i', TABLE, '-i', 'ids=[1]', '--fetch', 'nothing'], 'unexpected-input']
  ])('and refuses %s with exit code 2', async (_, args, code) => {
    const { status, json, stderr } = await nodewiseJson(['run', gather, ...args, '--json'])
    expect([status, (json.error as { code: string }).code, stderr]).toEqual([2, code, ''])
  })
})

describe('run takes inputs without a format of their own', () => {
  const rows = async (...args: string[]): Promise<unknown> =>
    ((await nodewiseJson(['run', palette, '--fetch', 'rgb', '--json', ...args])).json.outputs as { dims: unknown }[])[0]
  const bytes = new Uint8Array(BigInt64Array.from([1n, 2n]).buffer)
  const ids = new Tensor('int64', [1n, 2n], [2])

  test('elements alone in a .bin, by the declared type and dims or by --shape', async () => {
    const ids = file('ids.bin', bytes)
    expect(await rows('-i', `ids=${ids}`)).toMatchObject({ dims: [2, 3] })
    const run = ['run', identity, '-i', 'b=[1,2]', '-i', `a=${file('a.bin', new Uint8Array(16))}`]
    expect((await nodewise(run)).stderr).toContain('2 of those that are declared are open')
    expect((await nodewise([...run, '--shape', 'm=2'])).stdout).toContain('x: float32 [2, 2]')
    expect((await nodewise([...run, '--shape', 'a=[2,2]'])).stdout).toContain('x: float32 [2, 2]')
    expect((await nodewise(['run', palette, '-i', `ids=${file('odd.bin', bytes.subarray(1))}`])).stderr).toContain(
      'odd.bin: 15 bytes are not whole rows of 8 bytes'
    )
  })

  test('bare text for strings', async () => {
    const language = join(MODELS, 'language.onnx')
    expect((await nodewise(['run', language, '-i', 'words=wo'])).stdout).toContain('"German"')
    const echo = file(
      'echo.onnx',
      onnxBytes({
        inputs: [port('s', 'string', [])],
        outputs: [port('y', 'string')],
        nodes: [node('Identity', ['s'], ['y'])]
      })
    )
    for (const text of ['12', 'null', "it's [1", 'a.txt'])
      expect((await nodewise(['run', echo, '-i', `s=${text}`])).stdout).toBe(`y: string []\n${JSON.stringify(text)}\n`)
  })

  test('stdin and pipes, for the model too', () => {
    const shell = (script: string, ...args: string[]): string =>
      nodewiseProcess(['run', ...args], { shell: script })
        .stdout.split('\n')
        .slice(-3)
        .join(' ')
    const [white, red] = ['[[255 255 255]', ' [220  40  40]]']
    expect(shell('echo "[1, 2]" | "$0" "$@"', palette, '-i', 'ids=-')).toBe(`${white} ${red} `)
    expect(shell(`"$0" "$@" --inputs - <<< '{"ids": [1, 2]}'`, palette)).toBe(`${white} ${red} `)
    expect(shell(`cat ${palette} | "$0" "$@"`, '-', '-i', 'ids=[1,2]')).toBe(`${white} ${red} `)
    expect(shell(`"$0" "$@" <(cat ${palette}) -i ids=<(cat ${file('i.npy', writeNpy(ids))})`)).toBe(`${white} ${red} `)
    expect(nodewiseProcess(['run', '-', '-i', 'ids=-'], { shell: `"$0" "$@" < ${palette}` })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('can be read once only') as string
    })
  })
})

describe('run names what is missing', () => {
  test.each([
    ['palette.onnx', `input "ids" (int64 [n]) is not given; for example -i 'ids=[1,1]', or --fill random --shape n=1`],
    [
      'shape-chain.onnx',
      'input "x" (float32 [batch, seq, 8]) is not given; --fill random --shape batch=1 --shape seq=1'
    ]
  ])('with an example that works: %s', async (name, message) => {
    const model = join(MODELS, name)
    const { stderr } = await nodewise(['run', model])
    expect(stderr).toContain(message)
    const [, options] = /(--fill .*) for values/.exec(stderr)!
    expect((await nodewise(['run', model, ...options.split(' ')])).status).toBe(0)
    const [, literal] = /-i '(.*?)'/.exec(stderr) ?? []
    if (literal !== undefined) expect((await nodewise(['run', model, '-i', literal])).status).toBe(0)
  })

  test('with open dims as every other message has them', async () => {
    const ir = file(
      'open.xml',
      '<net name="n" version="11"><layers><layer id="0" name="x" type="Parameter" version="opset1">' +
        '<data shape="..,1..5,2..,?" element_type="f32"/><output><port id="0" precision="FP32"/></output></layer>' +
        '<layer id="1" name="y" type="Result" version="opset1"><input><port id="0" precision="FP32"/></input></layer>' +
        '</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
    )
    expect((await nodewise(['run', ir])).stderr).toContain('input "x" (float32 [?, 1..5, 2.., ?]) is not given')
    expect((await nodewise(['inspect', ir])).stdout).toContain('[?, 1..5, 2.., ?]')
  })

  test('and says how a value without a name is given', async () => {
    const said = async (value: string): Promise<string> => (await nodewise(['run', gather, '-i', value])).stderr
    expect(await said('[1]')).toContain('--input [1]: name=value is needed, such as table=[1]')
    expect(await said(folder)).toContain(`--inputs ${folder} reads the inputs that are in it`)
  })

  test('and suggests the input that was meant', async () => {
    expect((await nodewise(['run', palette, '-i', 'idx=[1]'])).stderr).toContain('; did you mean "ids"?')
  })
})

describe('run tells a file that is no tensor for what it is', () => {
  test.each([
    [
      'a.npz',
      'PK\x03\x04'.padEnd(26, '\0') + '\x05\0\0\0x.npy',
      'an archive of arrays (.npz); give all its arrays with'
    ],
    ['a.png', '\x89PNG\r\n\x1a\n', 'a PNG picture; give it with --image '],
    ['a.wav', 'RIFF\x10\0\0\0WAVEfmt ', 'a WAV recording; give it with --audio '],
    ['a.txt', '1 2 3\n', 'a text; numbers: numpy.save'],
    [
      'a.onnx.txt',
      'version https://git-lfs.github.com/spec/v1\nsize 12\n',
      'a pointer of Git LFS to a file of 12 bytes'
    ]
  ])('%s', async (name, text, message) => {
    const { status, stderr } = await nodewise(['run', palette, '-i', `ids=${file(name, Buffer.from(text, 'latin1'))}`])
    expect(status).toBe(2)
    expect(stderr).toContain(`${name}: this is ${message}`)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('or says that there is none', async () => {
    expect((await nodewise(['run', palette, '-i', 'ids=nowhere.png'])).stderr).toContain('there is no file nowhere.png')
    expect((await nodewise(['run', palette, '-i', 'ids=@ids.npy'])).stderr).toContain('named without "@": ids=ids.npy')
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

describe('run reports failures', () => {
  test('in one line with the place first: ONNX', async () => {
    const { status, stdout, stderr } = await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[0,9]'])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      `${gather}: node 0 Gather "Gather_y" (ai.onnx 17): index 9 at [1] is out of range for axis 0 of size 2; ` +
        'the index comes from "ids" (graph input)\n'
    )
  })

  test('in one line with line and column: OpenVINO', async () => {
    const text = readFileSync(join(MODELS, 'palette.xml'), 'utf8')
      .replaceAll('version="opset8"', 'version="opset7"')
      .replaceAll(/<layer ([^>]*)type="Gather"([^>]*)>/g, '$&<data batch_dims="0"/>')
    const model = file('palette.xml', text)
    file('palette.bin', readFileSync(join(MODELS, 'palette.bin')))
    const line = text.split('\n').findIndex(part => part.includes('type="Gather"')) + 1
    const { status, stderr } = await nodewise(['run', model, '-i', 'ids=[99]'])
    expect(status).toBe(2)
    expect(stderr).toMatch(
      new RegExp(
        `^${model}:${line}:3: Gather "name" \\(opset7\\): ` +
          'index 99 at \\[0\\] is out of range for axis 0 of size 6; [^\\n]*\\n$'
      )
    )
  })

  test('as JSON with code, message, place and details', async () => {
    const { status, json } = await nodewiseJson(['run', gather, '-i', TABLE, '-i', 'ids=[0,9]', '--json'])
    expect(status).toBe(2)
    expect(json.error).toMatchObject({
      code: 'index-out-of-range',
      place: { file: gather, node: 'Gather_y', nodeIndex: 0, type: 'Gather' },
      details: { index: '9', position: [1], axis: 0, size: 2 }
    })
  })

  test('with the stack only when --debug asks for it', async () => {
    expect((await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[9]'])).stderr).not.toMatch(/\n\s+at /)
    expect((await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[9]', '--debug'])).stderr).toMatch(/\n\s+at /)
  })

  test('and no control characters of a file reach the terminal', async () => {
    const model = file(
      'control.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [node('No\u001b[31mSuch\n', ['x'], ['y'])]
      })
    )
    const { stderr } = await nodewise(['run', model, '-i', 'x=[1]'])
    expect(stderr.includes('\u001b')).toBe(false)
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
    const line = /5 runs: minimum \d+\.\d+ ms, median \d+\.\d+ ms, p95 \d+\.\d+ ms.*; \d+ runs a second\n$/
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
    const args = ['run', gather, '-i', TABLE, '-i', 'ids=[1]', '--time', '80ms', '--warmup', '3', '--json']
    const began = performance.now()
    const { json } = await nodewiseJson(args)
    expect(performance.now() - began).toBeGreaterThan(80)
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
    // On a busy machine the command may not have begun to run.
    const first = await interrupted(2000)
    const { code, text } = first.code === null ? await interrupted(10_000) : first
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

describe('run refuses a malformed model in one line with its place', () => {
  const xml = readFileSync(join(MODELS, 'palette.xml'), 'utf8')
  const bin = readFileSync(join(MODELS, 'palette.bin'))
  const relu = (name: string, from: string, to: string): object => ({ ...node('Relu', [from], [to]), name })
  const cases: [string, string, string | Uint8Array, Uint8Array | undefined, RegExp][] = [
    ['a cut-off protobuf', 'cut.onnx', readFileSync(palette).subarray(0, 150), undefined, /^[^:]*cut\.onnx: /],
    ['a file that is no model', 'text.onnx', 'hello', undefined, /^[^:]*text\.onnx: /],
    ['an empty file', 'empty.onnx', '', undefined, /^[^:]*empty\.onnx: /],
    ['a mismatched tag', 'tag.xml', xml.replace('</edges>', '</edgez>'), bin, /^[^:]*tag\.xml:\d+:\d+: /],
    [
      'a duplicate attribute',
      'twice.xml',
      xml.replace('<layer id="0"', '<layer id="0" id="0"'),
      bin,
      /^[^:]*twice\.xml:4:3: /
    ],
    ['a second root', 'roots.xml', `${xml}<net/>`, bin, /^[^:]*roots\.xml:\d+:\d+: /],
    ['a missing .bin that is needed', 'bare.xml', xml, undefined, /^[^:]*bare\.xml:\d+:\d+: Const /],
    ['a constant beyond the .bin', 'short.xml', xml, bin.subarray(0, 10), /^[^:]*short\.xml:\d+:\d+: Const .*10 bytes/],
    [
      'an unknown element type',
      'type.xml',
      xml.replace('element_type="u8"', 'element_type="u9"'),
      bin,
      /^[^:]*type\.xml:\d+:\d+: .*u9/
    ],
    [
      'duplicate value names',
      'names.onnx',
      onnxBytes({
        inputs: [port('ids', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [relu('one', 'ids', 'y'), relu('two', 'ids', 'y')]
      }),
      undefined,
      /^[^:]*names\.onnx: node \d+ Relu "(one|two)"/
    ],
    [
      'a cycle',
      'cycle.onnx',
      onnxBytes({
        inputs: [port('ids', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [relu('one', 'y', 'z'), relu('two', 'z', 'y')]
      }),
      undefined,
      /^[^:]*cycle\.onnx: node \d+ Relu/
    ]
  ]
  test.each(cases)('%s', async (_, name, content, weights, expected) => {
    const model = file(name, content)
    if (weights !== undefined) file(name.replace('.xml', '.bin'), weights)
    const { status, stdout, stderr } = await nodewise(['run', model, '-i', 'ids=[0]'])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(expected)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
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
