import { expect, test } from 'vitest'
import { nodewise } from '../command.ts'

test.each([
  [['view', '-'], 'nodewise: view shows a file; stdin is none\n'],
  [['view', 'http://127.0.0.1/m.onnx'], /^nodewise: view shows a file of this machine; /],
  [['view', '--port', '65536'], 'nodewise: --port 65536: ports end at 65535\n'],
  [['view', '--report', 'r.sarif'], 'nodewise: --report is shown with a model: name it, too\n']
])('%j is refused in a sentence', async (args, stderr) => {
  expect(await nodewise([...args, '--no-open'])).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(stderr) as string
  })
})
