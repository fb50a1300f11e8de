import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeNpy } from '../../../src/io/npy.ts'
import { writeNpz } from '../../../src/io/npz.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { MODELS, nodewise, nodewiseJson, nodewiseProcess } from '../command.ts'
import { palette, runModels, TABLE } from './models.ts'

const { folder, file, gather, identity } = runModels()

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
      stderr: 'stdin: "-" is stdin, which can be read once only\n'
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
    expect(await said('table')).toContain('--input table: a value is needed, as in table=… or table=file.npy')
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

  const POINTER = 'version https://git-lfs.github.com/spec/v1\nsize 12\n'

  test.each([
    ['pointer.npy', POINTER, 'a pointer of Git LFS to a file of 12 bytes, not the file itself; get the file with'],
    ['pointer.pb', POINTER, 'a pointer of Git LFS'],
    ['pointer.json', POINTER, 'a pointer of Git LFS'],
    ['pointer.npz', POINTER, 'a pointer of Git LFS'],
    ['empty.npy', '', 'empty; was it cut off?'],
    ['empty.npz', '', 'empty; was it cut off?'],
    ['page.npy', '<!DOCTYPE html><html></html>', 'an HTML page; take the address of the file itself'],
    ['archive.npy', 'PK\x03\x04'.padEnd(26, '\0') + '\x05\0\0\0x.npy', 'an archive of arrays (.npz); give all']
  ])('whatever it is called: %s', async (name, text, message) => {
    const path = file(name, Buffer.from(text, 'latin1'))
    const given = name.endsWith('.npz') ? ['--inputs', path] : ['-i', `ids=${path}`]
    const { status, stderr } = await nodewise(['run', palette, ...given])
    expect(status).toBe(2)
    expect(stderr).toContain(`${name}: this is ${message}`)
  })

  test.each([
    ['spoiled.npy', '\x93NUMPY\x01\0\xff\0{', 'the .npy header of 255 bytes is cut off'],
    ['spoiled.npz', 'PK\x03\x04'.padEnd(26, '\0') + '\x05\0\0\0x.npy', 'the archive cannot be read'],
    ['spoiled.json', '[1, 2', 'not JSON'],
    ['words.json', 'one two', 'not JSON']
  ])('but leaves the fault of what it is called to its reader: %s', async (name, text, message) => {
    const path = file(name, Buffer.from(text, 'latin1'))
    const given = name.endsWith('.npz') ? ['--inputs', path] : ['-i', `ids=${path}`]
    expect((await nodewise(['run', palette, ...given])).stderr).toContain(`${name}: ${message}`)
  })

  test('or says that there is none', async () => {
    expect((await nodewise(['run', palette, '-i', 'ids=nowhere.png'])).stderr).toContain('there is no file nowhere.png')
    expect((await nodewise(['run', palette, '-i', 'ids=@ids.npy'])).stderr).toContain('named without "@": ids=ids.npy')
    expect((await nodewise(['run', palette, '-i', 'ids=.'])).stderr).toContain('. is a folder; --inputs . reads')
  })
})
