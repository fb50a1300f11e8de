import { expect, test } from 'vitest'
import { testCases } from './cases.ts'
import { describeData } from './data.ts'
import { indexOf } from './supported.ts'

describeData('the gather family', () => {
  const names = testCases('gather')
  test.each(['examples', 'onnx', 'openvino'])('is tested with every case that the index of %s lists', folder => {
    const rows = indexOf(`gather/${folder}`)
    expect(rows).not.toEqual([])
    expect(names).toEqual(expect.arrayContaining(rows.map(({ name }) => `gather/${folder}/${name}`)))
  })
})
