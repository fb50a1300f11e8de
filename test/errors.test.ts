import { inspect } from 'node:util'
import { expect, expectTypeOf, test } from 'vitest'
import { fail, NodewiseError, reasonOf } from '../src/errors.ts'

const caught = (): NodewiseError => {
  try {
    return fail('index-out-of-range', 'index 9 is out of range', { index: '9', position: [1], axis: 0, size: 6 })
  } catch (error) {
    return error as NodewiseError
  }
}

test('a message says where, a reason only what', () => {
  const error = caught().at({ file: 'm.onnx', nodeIndex: 3, type: 'Gather', node: 'emb', version: 'ai.onnx 13' })
  expect(error.reason).toBe('index 9 is out of range')
  expect(error.message).toBe('m.onnx: node 3 Gather "emb" (ai.onnx 13): index 9 is out of range')
  expect(error.at({ file: 'other', value: 'v' }).place).toMatchObject({ file: 'm.onnx', value: 'v' })
})

test('a reason that begins with the name of the file loses it in the message', () => {
  expect(new NodewiseError('missing-file', 'a/b.bin is too short', { file: 'a/b.bin' }).message).toBe(
    'a/b.bin: is too short'
  )
  expect(new NodewiseError('missing-file', 'b.bin is too short', { file: 'a/b.bin' }).message).toBe(
    'a/b.bin: is too short'
  )
})

test('what a console prints begins with the name and the whole message', () => {
  const first = caught()
  const error = first.at({ file: 'm.onnx' })
  expect(error).toBeInstanceOf(Error)
  expect(error.stack).toMatch(/^NodewiseError: m\.onnx: index 9 is out of range\n {4}at /)
  expect(inspect(error)).toContain('NodewiseError: m.onnx: index 9')
  expect(error.stack?.split('\n').slice(1)).toEqual(first.stack?.split('\n').slice(1))
})

test('a cause stays when the place moves', () => {
  const cause = new Error('time')
  expect(new NodewiseError('aborted', 'it took too long', {}, {}, { cause }).at({ file: 'a' }).cause).toBe(cause)
  expect('cause' in caught().at({ file: 'a' })).toBe(false)
})

test('the code tells the type of the details', () => {
  const error = caught()
  if (error.code === 'index-out-of-range') expectTypeOf(error.details.index).toEqualTypeOf<string>()
  if (error.code === 'invalid-file') expectTypeOf(error.details.index).toEqualTypeOf<unknown>()
  expect(error.details).toEqual({ index: '9', position: [1], axis: 0, size: 6 })
})

test('the reason of any error is what it says', () => {
  expect([reasonOf(caught()), reasonOf(new Error('plain')), reasonOf('text')]).toEqual([
    'index 9 is out of range',
    'plain',
    'text'
  ])
})
