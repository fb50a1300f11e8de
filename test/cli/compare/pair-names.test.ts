import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { nodewise, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const model = (name: string, input: string, middle: string): string => {
  const path = join(folder, `${name}.onnx`)
  const parts = {
    inputs: [port(input, 'float', [2])],
    outputs: [port('y', 'float', [2])],
    nodes: [node('Abs', [input], [middle]), node('Neg', [middle], ['y'])]
  }
  writeFileSync(path, onnxBytes(parts))
  return path
}
const [one, two] = [model('one', 'x', 'a=1'), model('two', 'z', 'absolute')]
const given = ['compare', one, two, '-i', 'x=[1,-2]']

test('a pair that --map names is compared, also where a name holds =', async () => {
  expect(await nodewise([...given, '--map', 'a=1=absolute', '--all'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('2 pairs of values compared') as string
  })
})

test('--map of what one of the two does not have is refused', async () => {
  const fails = async (pair: string): Promise<string> => {
    const { status, stderr } = await nodewise([...given, '--map', pair])
    expect(status).toBe(2)
    return stderr
  }
  expect(await fails('b=absolute')).toContain(`--map b=absolute: ${one} has no value "b"`)
  expect(await fails('y=absolut')).toContain(`${two} has no value "absolut"; did you mean "absolute"?`)
  const { status, stderr } = await nodewise(['compare', one, two, '--structure', '--map', 'y=q'])
  expect([status, stderr]).toEqual([2, expect.stringContaining(`${two} has no value "q"`)])
  const recorded = join(folder, 'values.npz')
  await nodewise(['run', one, '-i', 'x=[1,-2]', '--record', recorded])
  expect((await nodewise(['compare', two, recorded, '--map', 'y=q'])).stderr).toContain(`${recorded} has no value "q"`)
})

test('--map-input of an input that one of the two does not have is refused', async () => {
  expect((await nodewise([...given, '--map-input', 'x=z'])).status).toBe(0)
  const { status, stderr } = await nodewise([...given, '--map-input', 'x=zz'])
  expect([status, stderr]).toEqual([2, expect.stringContaining(`${two} has no input "zz"`)])
})

test('an input that is not given is told with what to type', async () => {
  const { status, stderr } = await nodewise(['compare', one, two])
  expect([status, stderr]).toEqual([
    2,
    `${one}: input "x" (float32 [2]) is not given; ` +
      `for example -i 'x=[0.5,0.5]', or --fill random for values of no meaning\n`
  ])
})
