import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nodewiseProcess, temporaryFolder } from './command.ts'

test('serve gives its arguments to the package that serves, in their order, and ends with its exit code', () => {
  const folder = temporaryFolder()
  const installed = join(folder, 'node_modules/nodewise-serve')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{"type": "module", "exports": "./index.js"}')
  writeFileSync(
    join(installed, 'index.js'),
    'export const main = async (args, { stdout }) => { stdout.write(JSON.stringify(args)); return 7 }'
  )
  const { status, stdout } = nodewiseProcess(['serve', 'models', '--http-port', '0', '--json'], { cwd: folder })
  expect([status, stdout]).toEqual([7, '["models","--http-port","0","--json"]'])
})
