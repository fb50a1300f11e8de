import { load, modelFiles, parseModel } from 'nodewise'
import { expect, test, vi } from 'vitest'
import { besideOf } from '../src/worker/sources.ts'

/** A file that a test's reader can read at once, as workers read files. */
class TestFile extends Blob {
  readonly held: Uint8Array<ArrayBuffer>

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    super([bytes])
    this.held = bytes
  }

  override slice(from?: number, to?: number): TestFile {
    return new TestFile(this.held.slice(from, to))
  }
}

test('of the files beside a model only those are read as a whole that it names', async () => {
  let read = 0
  vi.stubGlobal(
    'FileReaderSync',
    class {
      readAsArrayBuffer({ held }: TestFile): ArrayBuffer {
        read += held.length
        return held.buffer
      }
    }
  )
  const model = parseModel(`<ir_version: 8, opset_import: ["" : 17]>
    g (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Add (x, w) }`)
  const { files } = modelFiles(model, 'm.onnx', { externalBytes: 1 })
  const bytesOf = (wanted: RegExp): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(
      files.flatMap(({ path, chunks }) => (wanted.test(path) ? [...chunks].flatMap(one => [...one]) : []))
    )
  const [main, weights] = [bytesOf(/onnx$/), bytesOf(/data$/)]
  const beside = [
    { path: 'm.onnx.data', content: new TestFile(weights) },
    { path: 'other.onnx', content: new TestFile(new Uint8Array(8 << 20)) }
  ]
  const externalData = beside.map(file => ({ path: file.path, data: besideOf(file) }))
  const loaded = await load(main, { name: 'm.onnx', externalData })
  expect([...loaded.graph.initializers.values()].map(each => [...each.read().data])).toEqual([[1, 2, 3]])
  expect(read).toBeLessThan(1 << 20)
  vi.unstubAllGlobals()
})
