import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readNpy } from '../../../src/io/npy.ts'
import { readNpz } from '../../../src/io/npz.ts'
import { readTensorFile } from '../../../src/io/read.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { MODELS, nodewise, nodewiseJson, nodewiseProcess, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)
const palette = ['run', join(MODELS, 'palette.onnx'), '-i', 'ids=[1,2]']
const COLORS = [255, 255, 255, 220, 40, 40]

describe('the suffix of -o decides', () => {
  test('.npy and .pb hold one output, and parents are made', async () => {
    const rgb = [...palette, '--fetch', 'rgb', '-o']
    for (const name of ['new/deep/rgb.npy', 'new/rgb.pb']) {
      expect(await nodewise([...rgb, at(name)])).toEqual({ status: 0, stdout: `rgb: ${at(name)}\n`, stderr: '' })
      expect(await readTensorFile(at(name))).toMatchObject({ type: 'uint8', dims: [2, 3] })
      const { status, stderr } = await nodewise([...palette, '-o', at(name)])
      expect([status, stderr]).toEqual([
        2,
        expect.stringMatching(/holds one output, and there are 2; take one with --fetch/)
      ])
    }
    expect([...(readNpy(readFileSync(at('new/deep/rgb.npy'))).data as Uint8Array)]).toEqual(COLORS)
  })

  test('.json holds all outputs, as --inputs reads them', async () => {
    expect((await nodewise([...palette, '-o', at('all.json')])).status).toBe(0)
    expect(JSON.parse(readFileSync(at('all.json'), 'utf8'))).toEqual({
      name: { type: 'string', dims: [2], data: ['white', 'red'] },
      rgb: { type: 'uint8', dims: [2, 3], data: COLORS }
    })
  })

  test('a slash makes a folder; a suffix that is not known is an error before the run', async () => {
    expect((await nodewise([...palette, '-o', `${at('a.b')}/`])).status).toBe(0)
    expect(readdirSync(at('a.b')).sort()).toEqual(['name.npy', 'rgb.npy'])
    expect((await nodewise([...palette, '-o', at('a.b')])).status).toBe(0)
    const { status, stderr } = await nodewise([...palette, '-o', at('out.csv')])
    expect([status, stderr]).toEqual([2, expect.stringContaining('.npz, .npy, .json, .pb, or into a folder')])
    expect(existsSync(at('out.csv'))).toBe(false)
  })

  test('- is stdout, and nothing else is printed there', () => {
    const shell = `"$0" "$@" > ${at('stdout.npy')}`
    expect(nodewiseProcess([...palette, '--fetch', 'rgb', '-o', '-'], { shell }).status).toBe(0)
    expect([...(readNpy(readFileSync(at('stdout.npy'))).data as Uint8Array)]).toEqual(COLORS)
    expect(nodewiseProcess([...palette, '-o', '/dev/null']).status).toBe(0)
    expect(nodewiseProcess([...palette, '-o', '-', '--json']).stdout).toContain('both write to stdout')
  })

  test('--json says where the data is, and does not print it again', async () => {
    const { json } = await nodewiseJson([...palette, '-o', `${at('json')}/`, '--json'])
    expect(json.outputs).toEqual([
      { name: 'name', type: 'string', dims: [2], file: 'name.npy' },
      { name: 'rgb', type: 'uint8', dims: [2, 3], file: 'rgb.npy' }
    ])
  })
})

describe('outputs with whole numbers for names, as PyTorch gives them,', () => {
  const outputs = ['20', 'b', '3']
  const args = ['run', at('numbers.onnx'), '-i', 'x=[1]']
  const names = async (...flags: string[]): Promise<unknown[]> =>
    ((await nodewiseJson([...args, ...flags, '--json'])).json.outputs as { name: string }[]).map(({ name }) => name)

  test('come in the order of the model, or in that they are fetched', async () => {
    writeFileSync(
      at('numbers.onnx'),
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: outputs.map(name => port(name, 'float', [1])),
        nodes: outputs.map(name => node('Abs', ['x'], [name]))
      })
    )
    expect(await names()).toEqual(outputs)
    expect(await names('--fetch', 'b,3,20')).toEqual(['b', '3', '20'])
    expect((await nodewise(args)).stdout.match(/\w+(?=:)/g)).toEqual(outputs)
    await nodewise([...args, '-o', at('numbers.npz')])
    expect([...readNpz(readFileSync(at('numbers.npz'))).keys()]).toEqual(outputs)
  })
})

describe('--top', () => {
  const language = ['run', join(MODELS, 'language.onnx'), '-i', 'words=wo', '--fetch', 'probability']
  const best = async (labels: string): Promise<unknown> => {
    writeFileSync(at('labels'), labels)
    const { json } = await nodewiseJson([...language, '--top', '2', '--labels', at('labels'), '--json'])
    return (json.outputs as { top: unknown }[])[0].top
  }

  test('prints the best classes with their labels, best first', async () => {
    writeFileSync(at('labels'), 'one\ntwo\nthree\nfour\nfive\n')
    const { stdout } = await nodewise([...language, '--top', '2', '--labels', at('labels')])
    expect(stdout).toBe('probability: the best 2\n      0.40338  1  two\n      0.20282  3  four\n')
    expect((await nodewise([...language, '--top', '1'])).stdout).toBe('probability: the best 1\n      0.40338  1\n')
  })

  test('takes labels as lines, as a JSON list, and as Keras has those of ImageNet', async () => {
    const expected = [[expect.objectContaining({ index: 1, label: 'two' }), expect.objectContaining({ label: 'four' })]]
    expect(await best('one\r\ntwo\r\nthree\r\nfour\r\nfive')).toEqual(expected)
    expect(await best('["one", "two", "three", "four", "five"]')).toEqual(expected)
    expect(await best('{"0": ["n0", "one"], "1": ["n1", "two"], "3": ["n3", "four"]}')).toEqual(expected)
  })

  test('takes labels of JSON behind a byte order mark, and as Transformers has them by name', async () => {
    const expected = [[expect.objectContaining({ index: 1, label: 'two' }), expect.objectContaining({ label: 'four' })]]
    expect(await best('\ufeff["one", "two", "three", "four", "five"]')).toEqual(expected)
    expect(await best('{"one": 0, "four": 3, "two": 1}')).toEqual(expected)
  })

  test.each(['{"model_type": "bert"}', '{}', '[]'])('refuses JSON that names no class: %s', async labels => {
    writeFileSync(at('labels'), labels)
    const { status, stderr } = await nodewise([...language, '--labels', at('labels')])
    expect([status, stderr]).toEqual([2, expect.stringContaining('it names no class')])
  })

  test('takes the keys of maps for classes, a row each', async () => {
    const iris = ['run', join(MODELS, 'iris.onnx'), '-i', 'X=[[5.1,3.5,1.4,0.2],[6,3,5,2]]', '--top', '1']
    const { stdout } = await nodewise(iris)
    expect(stdout).toMatch(
      /output_label: string \[2\][^]*the best 1\nrow 0\n +0\.98469 {2}setosa\nrow 1\n +0\.83393 {2}virginica\n$/
    )
  })
})

describe('--save-case', () => {
  test.each(['palette.onnx', 'palette.xml'])('writes a case that nodewise test passes: %s', async name => {
    const target = at(`case-${name}`)
    for (const ids of ['[1,2]', '[]'])
      expect((await nodewise(['run', join(MODELS, name), '-i', `ids=${ids}`, '--save-case', target])).status).toBe(0)
    expect(readdirSync(target).filter(entry => entry.startsWith('test_data_set'))).toHaveLength(2)
    expect((await nodewise(['test', target])).stdout).toContain('1 passed, 0 failed')
  })

  test('writes maps and sequences too', async () => {
    const args = ['run', join(MODELS, 'iris.onnx'), '-i', 'X=[[5.1,3.5,1.4,0.2]]', '--save-case', at('case-iris')]
    expect((await nodewise(args)).status).toBe(0)
    expect((await nodewise(['test', at('case-iris'), '--rtol', '0', '--atol', '0'])).stdout).toContain('1 passed')
  })

  test('refuses a folder of another model, and values that are no outputs', async () => {
    const target = at('case-of-another')
    await nodewise(['run', join(MODELS, 'palette.onnx'), '-i', 'ids=[1]', '--save-case', target])
    const args = ['run', join(MODELS, 'iris.onnx'), '-i', 'X=[[1,2,3,4]]', '--save-case', target]
    expect((await nodewise(args)).stderr).toContain('the folder has another model.onnx')
    const language = ['run', join(MODELS, 'language.onnx'), '-i', 'words=wo', '--fetch', 'scores']
    expect((await nodewise([...language, '--save-case', at('none')])).stderr).toContain('"scores" is no output')
  })
})
