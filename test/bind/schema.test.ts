import { expect, test } from 'vitest'
import { openvinoSchema } from '../../src/bind/schema.ts'

test.each(['MVN', 'ROIPooling', 'ReorgYolo'])('%s of opset 1 is that of opset 2, and of no other opset', type => {
  expect(openvinoSchema(type, 'opset1')).toEqual(openvinoSchema(type, 'opset2'))
  expect(openvinoSchema(type, 'opset1')).toBeDefined()
  for (const version of ['opset0', 'opset99', 'extension', '']) expect(openvinoSchema(type, version)).toBeUndefined()
})

test('operators of an extension are those of opset 6 where OpenVINO has them there', () => {
  for (const version of ['experimental', 'extension'])
    expect(openvinoSchema('Proposal', version)).toEqual(openvinoSchema('Proposal', 'opset6'))
  expect(openvinoSchema('ReLU', 'extension')).toBeUndefined()
  expect(openvinoSchema('Proposal', 'opset99')).toBeUndefined()
})
