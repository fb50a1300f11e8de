import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { bigintOf, numberOf } from '../../src/onnx/numbers.ts'
import { type AttributeProto, onnx } from '../../src/onnx/schema.js'
import { block, tag, varint } from './encode.ts'

const attributeOf = (value: bigint): AttributeProto => {
  const bytes = Uint8Array.from(block(7, block(1, block(5, [...tag(3, 0), ...varint(value)]))))
  return onnx.ModelProto.decode(bytes).graph!.node[0].attribute[0]
}

describe('64-bit integers of the schema', () => {
  test.each([0n, 1n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)])('%d is exact', value => {
    expect(bigintOf(attributeOf(value).i)).toBe(value)
  })

  test('are numbers up to 2^53', () => {
    expect(numberOf(attributeOf(-5n).i)).toBe(-5)
    expect(numberOf(attributeOf(2n ** 53n - 1n).i)).toBe(2 ** 53 - 1)
  })

  test('stay exact in a bundle', async () => {
    const bytes = [...block(8, [...tag(2, 0), ...varint(2n ** 62n + 1n)])]
    const contents = `import { onnx } from './schema.js'
      const { low, high } = onnx.ModelProto.decode(Uint8Array.from(${JSON.stringify(bytes)})).opset_import[0].version
      export const halves = [low, high]`
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: 'src/onnx' },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['main'],
      logLevel: 'silent'
    })
    const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
    expect(((await import(/* @vite-ignore */ url)) as { halves: number[] }).halves).toEqual([1, 2 ** 30])
  })
})
