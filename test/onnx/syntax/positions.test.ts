import { expect, test } from 'vitest'
import { check, InferenceSession, parseModel, Tensor } from '../../../src/index.ts'

const HEADER = '<ir_version: 10, opset_import: ["" : 17, "own" : 1]>'

const places = (text: string): string[] =>
  check(parseModel(text, 'a.onnxtxt')).findings.map(
    ({ code, place: { line, column, type } }) => `${line}:${column} ${type ?? ''} ${code}`
  )

test('findings of a model in the text format have the line of their node', () => {
  expect(
    places(`\ufeff${HEADER}
g (float[2,3] x) => (float[3,3] y)
{
  # a comment, and
  a = Relu (x)\r
  b = Neg (a) y =
      Add (a, b)
}`)
  ).toEqual(['6:15 Add dims-mismatch'])
})

test('nodes of bodies have lines of their own, those in functions that of none', () => {
  const text = (inThen: string): string => `${HEADER}
g (bool c, float[2,3] x) => (float[3,2] y)
{
  y = If (c) <
    then_branch = then () => (float t) {
      u = Relu (x)
      t = ${inThen} (u)
    },
    else_branch = else () => (e) {
      e = own.F (x)
    }
  >
}
<domain: "own", opset_import: ["" : 17]>
F (p) => (q)
{
  q = Transpose (p)
}`
  expect(places(text('Gatherr'))).toEqual(['7:7 Gatherr unknown-op'])
  expect(places(text('Transpose'))).toEqual(['7:7 Transpose rank-mismatch'])
})

test('an output that nothing makes is told at its declaration', () => {
  expect(
    places(`${HEADER}
g (float[2] x) => (float[2] y,
  float[2] z)
{ y = Relu (x) }`)
  ).toEqual(['3:12  missing-producer'])
})

test('a run that fails says the line', async () => {
  const model = parseModel(
    `${HEADER}
g (float[4] x, int64[n] i) => (y)
{
  y = Gather (x, i)
}`,
    'a.onnxtxt'
  )
  const feeds = { x: new Tensor('float32', [1, 2, 3, 4]), i: new Tensor('int64', [9n]) }
  await expect(new InferenceSession(model).run(feeds)).rejects.toThrow(
    'a.onnxtxt:4:3: Gather (ai.onnx 17): index 9 at [0] is out of range'
  )
})

test('a model that cannot be read for what one node says tells its line', () => {
  expect(() => parseModel(`<opset_import: ["" : 17]>\ng (x) => (y) { y = Relu (x) }`, 'a.onnxtxt')).toThrow(
    'a.onnxtxt: it is no ONNX model'
  )
})
