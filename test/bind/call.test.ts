import { setFlagsFromString } from 'node:v8'
import { expect, test } from 'vitest'
import { altered, type Call } from '../../src/bind/call.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { callOf } from '../ops/harness.ts'

setFlagsFromString('--allow-natives-syntax')
/** Whether the engine has one form for two objects, so that code which reads one is made for the other, too. */
const haveOneForm = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: object, b: object) => boolean

const data = new Tensor('float32', new Float32Array(6), [2, 3])
const calls = ['Relu', 'Neg', 'Abs', 'Exp', 'Floor', 'Softmax'].map(name => callOf(['onnx', name, 13], [data], {}))

test('an altered call has the parts that are given, and its others', () => {
  const [call] = calls
  const changed = altered(call, { inputs: ['z'], schema: undefined })
  expect(changed).toEqual({ ...call, inputs: ['z'], schema: undefined })
  expect(call.inputs).not.toEqual(['z'])
})

test('altered calls have the form of all calls, whatever forms those have of which they are made', () => {
  const reversed = calls.map((call, i) => {
    const parts = Object.entries(call)
    return Object.fromEntries([...parts.slice(i), ...parts.slice(0, i)]) as unknown as Call
  })
  const made = [...calls, ...reversed, ...reversed].map(call => altered(call, { inputs: ['z'] }))
  expect(made.every(call => haveOneForm(call, calls[0]))).toBe(true)
})
