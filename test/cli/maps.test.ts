import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { summarize, summaryText } from '../../src/cli/run/summary.ts'
import { writeNpy } from '../../src/io/npy.ts'
import { typeAndDims } from '../../src/runtime/profile.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { named, vectorized, zipped } from '../fixtures/maps.ts'
import { onnxBytes } from '../fixtures/onnx.ts'
import { nodewise, nodewiseJson, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
function file(name: string, content: string | Uint8Array): string {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const zip = file('zip.onnx', onnxBytes(zipped()))
const vectorize = file('vectorize.onnx', onnxBytes(vectorized()))
const X = ['-i', 'x=[[0.5,0.25],[2,"NaN"]]']
const PAIRS = '[[[7,0.5],[8,0.25]],[[7,2],[8,"NaN"]]]'

describe('run with maps', () => {
  test('prints them for people', async () => {
    expect((await nodewise(['run', zip, ...X])).stdout).toBe(
      'probabilities: sequence of 2\n' +
        'probabilities[0]: map(int64,float32) of 2\n{7: 0.5, 8: 0.25}\n' +
        'probabilities[1]: map(int64,float32) of 2\n{7: 2., 8: nan}\n'
    )
  })

  test('prints them as JSON with their type, and saves them as JSON', async () => {
    const out = join(folder, 'out')
    const { stdout } = await nodewise(['run', zip, ...X, '--json', '-o', out])
    expect(stdout.split('\n')[1]).toBe(
      `{"name":"probabilities","type":"sequence(map(int64,float32))","file":"probabilities.json"}`
    )
    expect(readFileSync(join(out, 'probabilities.json'), 'utf8')).toBe(
      `{"type":"sequence(map(int64,float32))","value":${PAIRS}}\n`
    )
    const { status, stderr } = await nodewise(['run', zip, ...X, '-o', join(folder, 'out.npz')])
    expect(status).toBe(2)
    expect(stderr).toContain('"probabilities" holds maps, which an .npz cannot hold')
  })

  test('takes them as literals, from a file of names and from a folder', async () => {
    const result = async (...args: string[]): Promise<unknown> =>
      ((await nodewiseJson(['run', vectorize, '--json', ...args])).json.outputs as { data: unknown }[])[0].data
    expect(await result('-i', 'x={"8": 2.5}')).toEqual([0, 2.5])
    expect(await result('-i', 'x=[[8, 2.5], [7, 1]]')).toEqual([1, 2.5])
    expect(await result('--inputs', file('all.json', '{"x": {"7": 3}}'))).toEqual([3, 0])
    file('set/input_0.json', '{"type": "map(int64,float)", "value": [[7, 4]]}')
    expect(await result('--inputs', join(folder, 'set'))).toEqual([4, 0])
    expect(await result('--fill', 'ones')).toEqual([0, 0])
  })

  test('says what is wrong with one', async () => {
    const message = async (literal: string): Promise<string> =>
      (await nodewise(['run', vectorize, '-i', `x=${literal}`])).stderr.trim()
    expect(await message('{"a": 1}')).toContain('--input x: "a" is no element of type int64')
    expect(await message('{"type": "map(string,float)", "value": []}')).toContain(
      'input "x" has type map(int64,float32); map(string,float32) is given'
    )
  })
})

describe('test with maps', () => {
  const expected = (pairs: string): string => `{"type": "sequence(map(int64,float))", "value": ${pairs}}`
  const judge = async (name: string, output: string): Promise<string> => {
    file(`${name}/model.onnx`, onnxBytes(zipped()))
    file(
      `${name}/test_data_set_0/input_0.npy`,
      writeNpy(new Tensor('float32', new Float32Array([0.5, 0.25, 2, NaN]), [2, 2]))
    )
    file(`${name}/test_data_set_0/output_0.json`, output)
    const { json } = await nodewiseJson(['test', join(folder, name), '--json'])
    const [{ status, message }] = json.cases as { status: string; message: string }[]
    return `${status} ${message}`
  }

  test('compares them in any order and within the tolerance', async () => {
    expect(await judge('same', expected('[[[8,0.25],[7,0.5000001]],[[7,2],[8,"NaN"]]]'))).toBe('pass ')
  })

  test('names a key that is missing, and a value that differs', async () => {
    expect(await judge('key', expected('[[[7,0.5],[8,0.25]],[[7,2],[9,"NaN"]]]'))).toContain(
      'output "probabilities": value 1 of the sequence: 1 of 2 keys missing: 9'
    )
    expect(await judge('value', expected('[[[7,0.5],[8,0.5]],[[7,2],[8,"NaN"]]]'))).toContain(
      'value 0 of the sequence: 1 of 2 values differ, the worst at key 8: 0.25, expected 0.5'
    )
    expect(await judge('type', '{"type": "sequence(map(int64,double))", "value": [[], []]}')).toContain(
      'type map(int64,float32), expected map(int64,float64)'
    )
  })
})

test('inspect and check name the types of maps, which have no dims', async () => {
  expect((await nodewise(['inspect', zip])).stdout).toContain('outputs\n  probabilities  seq(map(int64,float32))\n')
  expect((await nodewise(['inspect', vectorize])).stdout).toContain('inputs\n  x  map(int64,float32)\n')
  const { stdout } = await nodewise(['check', zip, '--values'])
  expect(stdout).toMatch(/^probabilities +seq\(map\(int64,float32\)\)$/m)
  expect(stdout).toContain('0 values of unknown rank')
  expect((await nodewise(['inspect', zip, '--graph', 'dot'])).stdout).toContain('sequence of map(int64,float32)')
})

test('a trace says how many pairs a map has', () => {
  const map = named({ a: 1, b: 2 })
  expect(typeAndDims(map)).toBe('map(string,float32) of 2')
  expect(summarize(map)).toEqual({ type: 'map(string,float32)', length: 2 })
  expect(summaryText(summarize(map))).toBe('')
})
