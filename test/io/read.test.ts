import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onnx } from 'onnx-proto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DeclaredType } from '../../src/graph/graph.ts'
import { numberedFiles, readInputs } from '../../src/io/inputs.ts'
import { writeNpy } from '../../src/io/npy.ts'
import { writeNpz } from '../../src/io/npz.ts'
import { readTensorBytes, readTensorFile } from '../../src/io/read.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodewise-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const write = (name: string, content: Uint8Array | string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const tensorOf = (type: DType): DeclaredType => ({ kind: 'tensor', type })
const one = new Tensor('int64', [1n])
const codes = new Tensor('uint16', [0x3f80])
const proto = onnx.TensorProto.encode({ dims: [2], dataType: 1, floatData: [1, 2.5], name: 'x' }).finish()

describe('readTensorFile', () => {
  it('reads .npy as the declared type where the file carries it', async () => {
    const path = write('x.NPY', writeNpy(codes))
    expect(await readTensorFile(path)).toEqual(codes)
    expect(await readTensorFile(path, tensorOf('bfloat16'))).toEqual(new Tensor('bfloat16', [0x3f80]))
    expect(await readTensorFile(path, tensorOf('float32'))).toEqual(codes)
    expect(await readTensorFile(path, { kind: 'optional', element: tensorOf('bfloat16') })).toEqual({
      type: 'optional',
      value: new Tensor('bfloat16', [0x3f80])
    })
  })

  it('reads .json', async () => {
    const path = write('x.json', '[1]')
    expect(await readTensorFile(path)).toEqual(one)
    expect(await readTensorFile(path, { kind: 'sequence', element: tensorOf('float32') })).toEqual({
      type: 'sequence',
      values: [new Tensor('float32', [1], [])]
    })
    await expect(readTensorFile(write('y.json', '[1'))).rejects.toMatchObject({
      code: 'invalid-file',
      place: { file: join(folder, 'y.json') }
    })
    await expect(readTensorFile(write('y.json', new Uint8Array([0x22, 0xff, 0x22])))).rejects.toMatchObject({
      reason: 'the file is not UTF-8 text'
    })
  })

  it('reads .pb by what is declared', async () => {
    const floats = new Tensor('float32', [1, 2.5])
    expect(await readTensorFile(write('x.pb', proto))).toEqual(floats)
    // SequenceProto { elem_type: TENSOR, tensor_values: [proto] } and OptionalProto { elem_type: TENSOR, tensor_value:
    // proto }.
    const sequence = Uint8Array.from([0x10, 1, 0x1a, proto.length, ...proto])
    const optional = Uint8Array.from([0x10, 1, 0x1a, proto.length, ...proto])
    expect(await readTensorFile(write('s.pb', sequence), { kind: 'sequence', element: { kind: 'tensor' } })).toEqual({
      type: 'sequence',
      values: [floats]
    })
    expect(await readTensorFile(write('o.pb', optional), { kind: 'optional', element: { kind: 'tensor' } })).toEqual({
      type: 'optional',
      value: floats
    })
  })

  it('says which file is missing, no file or of no known kind', async () => {
    await expect(readTensorFile(join(folder, 'no.npy'))).rejects.toMatchObject({
      code: 'missing-file',
      place: { file: join(folder, 'no.npy') }
    })
    mkdirSync(join(folder, 'd.npy'))
    await expect(readTensorFile(join(folder, 'd.npy'))).rejects.toMatchObject({ code: 'invalid-file' })
    await expect(readTensorFile(write('x.txt', ''))).rejects.toMatchObject({
      code: 'invalid-file',
      reason: 'a tensor is read from a .npy, .pb or .json file'
    })
  })
})

describe('readInputs', () => {
  const inputs = [{ name: 'ids/0', declared: tensorOf('bfloat16') }, { name: 'b' }]
  const expected = new Map<string, Tensor>([
    ['ids/0', new Tensor('bfloat16', [0x3f80])],
    ['b', one]
  ])

  it('reads a folder of numbered files in the order of the inputs', async () => {
    write('input_0.npy', writeNpy(codes))
    write('input_1.json', '[1]')
    write('output_0.npy', '')
    expect(await readInputs(folder, inputs)).toEqual(expected)
    write('input_2.pb', proto)
    expect([...(await readInputs(folder, inputs)).keys()]).toEqual(['ids/0', 'b', 'input_2'])
  })

  it('reads a folder of files named after the inputs', async () => {
    write('ids_0.npy', writeNpy(codes))
    write('b.json', '[1]')
    write('README.md', '')
    expect(await readInputs(folder, inputs)).toEqual(new Map([...expected].reverse()))
  })

  it('reads an archive', async () => {
    const path = write(
      'in.npz',
      writeNpz(
        new Map<string, Tensor>([
          ['ids_0', codes],
          ['b', one]
        ])
      )
    )
    expect(await readInputs(path, inputs)).toEqual(expected)
    const optional = [{ name: 'b', declared: { kind: 'optional' as const, element: tensorOf('int64') } }]
    expect((await readInputs(path, optional)).get('b')).toEqual({ type: 'optional', value: one })
  })

  it('reads an object of literals', async () => {
    const path = write('in.json', '{"ids/0": [1.0], "b": [1], "c": "text"}')
    expect(await readInputs(path, inputs)).toEqual(
      new Map<string, Tensor>([...expected, ['c', new Tensor('string', ['text'], [])]])
    )
    await expect(readInputs(write('in.json', '{"b": [1, [2]]}'), inputs)).rejects.toMatchObject({
      code: 'shape-mismatch',
      place: { file: path, value: 'b' }
    })
    await expect(readInputs(write('in.json', '[1]'), inputs)).rejects.toMatchObject({
      reason: 'the file must hold an object of {name: literal}'
    })
  })

  it('says what is missing or cannot be read', async () => {
    await expect(readInputs(join(folder, 'no'), inputs)).rejects.toMatchObject({
      code: 'missing-file',
      place: { file: join(folder, 'no') }
    })
    await expect(readInputs(write('in.txt', ''), inputs)).rejects.toMatchObject({ code: 'invalid-file' })
    await expect(readInputs(write('in.npz', 'text'), inputs)).rejects.toMatchObject({
      code: 'invalid-file',
      place: { file: join(folder, 'in.npz') }
    })
  })
})

describe('numberedFiles', () => {
  it('sorts by number and ignores what is none', () => {
    const others = ['output_02.npy', 'output_x.npy', 'output_3.txt', 'input_0.npy']
    const [ten, two, zero] = ['output_10.NPY', 'output_2.pb', 'output_0.json'].map(name => write(name, ''))
    for (const name of others) write(name, '')
    expect([...numberedFiles(folder, 'output')]).toEqual([
      [0, zero],
      [2, two],
      [10, ten]
    ])
  })

  it('refuses a number that is there twice', () => {
    for (const name of ['input_0.npy', 'input_0.pb']) write(name, '')
    expect(() => numberedFiles(folder, 'input')).toThrow('input_0 is there twice')
    expect(() => numberedFiles(join(folder, 'no'), 'input')).toThrow(/no: does not exist$/)
  })
})

it.each(['\ufeff[1, 2]', '\ufeff\n [1, 2]', ' \n[1, 2]', '\t\r\n[1, 2]'])(
  'reads JSON without a name: %j',
  async text => {
    const read = await readTensorBytes(new TextEncoder().encode(text), undefined, 'stdin')
    expect(read).toMatchObject({ type: 'int64', dims: [2] })
  }
)

it('says that nothing came where a stream is empty, unless that is an optional without a value', async () => {
  await expect(readTensorBytes(new Uint8Array(0), undefined, 'stdin')).rejects.toThrow(
    'stdin: nothing came; a tensor is a .npy, a .pb or JSON'
  )
  const declared = { kind: 'optional', element: { kind: 'tensor', type: 'float32' } } as const
  await expect(readTensorBytes(new Uint8Array(0), declared, 'stdin')).resolves.toMatchObject({ type: 'optional' })
})
