// Builds what the package has beside its sources: generated modules, dist/ and bin/, and those of the workspaces. Steps
// run at the same time where none needs what the other makes: the kernels take half of the processor time.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('..', import.meta.url))

/** Runs a command; ends the build where it fails. */
const run = (command, ...args) =>
  new Promise(resolve => {
    const child = spawn(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
    child.on('error', error => {
      console.error(`${command} ${args.join(' ')}: ${error.message}`)
      process.exit(1)
    })
    child.on('exit', code => (code === 0 ? resolve() : process.exit(code ?? 1)))
  })
const node = (...args) => run('node', ...args)

rmSync(`${cwd}/dist`, { recursive: true, force: true })
const generated = Promise.all([node('scripts/generate-schema.mjs'), node('scripts/build-kernels.mjs')])
const compiled = node('node_modules/typescript-7/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck')
await generated
const bundled = Promise.all([node('scripts/bundle.mjs'), node('scripts/bundle-library.mjs')])
await compiled
await node('scripts/copy-generated.mjs')
// Workspaces read the declarations in dist/.
await run('npm', 'run', 'build', '--workspaces', '--if-present')
await bundled
