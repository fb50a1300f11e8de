import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testCases } from './cases.ts'
import { DATA, describeData } from './data.ts'

describeData('the gather family', () => {
  test('is tested with every case that there is', () => {
    const counts = ['examples', 'onnx', 'openvino'].map(
      folder =>
        readdirSync(join(DATA, 'gather', folder), { withFileTypes: true }).filter(entry => entry.isDirectory()).length
    )
    expect(counts).toEqual([17, 150, 150])
  })
  testCases('gather')
})
