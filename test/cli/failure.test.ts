import { expect, test } from 'vitest'
import { failureJson, failureOf, failureText } from '../../src/cli/failure.ts'
import { NodewiseError, placeText } from '../../src/errors.ts'

test('a place in XML is file, line and column, then the layer', () => {
  expect(
    placeText({
      file: 'model.xml',
      line: 1043,
      column: 7,
      offset: 9,
      node: 'emb',
      type: 'Gather',
      version: 'opset8',
      layer: '12',
      nodeIndex: 3
    })
  ).toBe('model.xml:1043:7: Gather "emb" (opset8)')
})

test('a place in ONNX is file and index of the node, with the way into a body', () => {
  const place = { file: 'model.onnx', graph: 'main', node: 'emb', nodeIndex: 17, type: 'Gather', version: 'ai.onnx 13' }
  expect(placeText(place)).toBe('model.onnx: node 17 Gather "emb" (ai.onnx 13)')
  expect(placeText({ ...place, node: '', graphPath: '12:then_branch/3:body' })).toBe(
    'model.onnx: node 12:then_branch/3:body/17 Gather (ai.onnx 13)'
  )
})

test('a place may be a value, a file or nothing', () => {
  expect(placeText({ file: 'model.onnx', value: 'ids' })).toBe('model.onnx: value "ids"')
  expect(placeText({ file: 'model.onnx' })).toBe('model.onnx')
  expect(placeText({})).toBe('')
})

test('a failure is one line, place first, and says a file name once', () => {
  expect(
    failureText(
      new NodewiseError('axis-out-of-range', 'axis 5 is out of range', { file: 'm.onnx', nodeIndex: 0, type: 'Gather' })
    )
  ).toBe('m.onnx: node 0 Gather: axis 5 is out of range')
  expect(failureText(new NodewiseError('missing-file', 'a/m.onnx does not exist', { file: 'a/m.onnx' }))).toBe(
    'a/m.onnx: does not exist'
  )
  expect(failureText(new NodewiseError('bad-usage', 'which?\nthis'))).toBe('nodewise: which?\\u000athis')
})

test('a failure in JSON keeps details, 64-bit integers exact', () => {
  expect(
    failureJson(
      new NodewiseError('index-out-of-range', 'm', { file: 'f' }, { index: '9', position: [0n, 3], left: undefined })
    )
  ).toEqual({
    error: {
      code: 'index-out-of-range',
      message: 'm',
      place: { file: 'f' },
      details: { index: '9', position: [0n, 3] }
    }
  })
})

test('what is no failure of this program becomes one', () => {
  expect(failureOf(new TypeError('x is not a function'))).toMatchObject({
    code: 'internal',
    message: 'internal error: x is not a function'
  })
  expect(failureOf(new RangeError('Maximum call stack size exceeded'))).toMatchObject({ code: 'limit-exceeded' })
  expect(failureOf('text')).toMatchObject({ code: 'internal', message: 'internal error: text' })
})
