import { expect, test } from 'vitest'
import { convert, InferenceSession, modelFiles, parseModel, printModel, Tensor } from '../../src/index.ts'

const TEXT = `<
   ir_version: 8,
   opset_import: ["" : 17]
>
g (float[n] x) => (float[n] y)
   <float[2] w = {1,2}>
{
   y = Mul (x, w)
}`

test('a text is read as a model and printed as it was; large weights may be left out', () => {
  expect(printModel(parseModel(TEXT))).toBe(TEXT)
  expect(printModel(parseModel(TEXT), { maxElements: 1 })).toContain('float[2] w = ...')
  expect(() => parseModel('g (', 'a.onnxtxt')).toThrow(
    expect.objectContaining({ code: 'invalid-file', place: expect.objectContaining({ file: 'a.onnxtxt' }) })
  )
})

test('a model is said in the other dialect and edited, and runs as it did', async () => {
  const { model, changed } = convert(parseModel(TEXT), { dialect: 'openvino', inputShapes: new Map([['x', [2]]]) })
  expect(model.dialect).toBe('openvino')
  expect(changed).toContainEqual({ node: 'x', how: expect.stringContaining('float[2]') })
  const { y } = await new InferenceSession(model).run({ x: new Tensor('float32', [3, 4], [2]) })
  expect([...y.data]).toEqual([3, 8])
})

test('the files of a model have their names by its dialect, and their bytes when they are asked for', () => {
  const model = parseModel(TEXT)
  const names = (path: string, of = model): string[] => modelFiles(of, path).files.map(file => file.path)
  expect(names('out/m.onnx')).toEqual(['out/m.onnx'])
  expect(names('m.xml', convert(model, { dialect: 'openvino' }).model)).toEqual(['m.bin', 'm.xml'])
  const [{ chunks }] = modelFiles(model, 'm.onnxtxt').files
  expect(Buffer.concat([...chunks]).toString()).toBe(`${TEXT}\n`)
})
