// Bundles the command line: node scripts/bundle.mjs [FOLDER], bin by default. What comes out:
//   program.js     what `nodewise run` needs for a gather; modules that a command imports when it is called run then
//   openvino.js    the reader of OpenVINO IR, read when something of it is first asked for
//   networks.js    operators and kernels, read in the same way
//   rest.js        everything else, read in the same way
//   *.cache        V8's compiled forms of them for this version of Node, which save half of the time to start
//   *.wasm         the kernels
//   nodewise.js    the command, which starts the program
//   nodewise.1     the manual page
//   licenses.txt   the licences of the packages that went into it
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildProgram, GATHER, LOAD, root, writeCaches, writeFiles } from './program.mjs'
import { beginBuild, BUNDLE_INPUTS } from './stamp.mjs'

const START = `#!/usr/bin/env node
'use strict'
${LOAD}
program()(require, pathToFileURL(__filename).href, part).start()
`

/**
 * Commander asks for child processes at once and uses them for commands in files of their own, of which there are none.
 */
const withoutChildProcess = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('commander') ? { path: 'none', namespace: 'none' } : undefined
    )
    onLoad({ filter: /./, namespace: 'none' }, () => ({ contents: 'module.exports = {}' }))
  }
}

/** What `nodewise run` does with a gather of ONNX. */
const FIRST = ['src/cli/program.ts', 'src/cli/run/run.ts', 'src/onnx/load.ts', ...GATHER]

const ENTRY = `export const start = () => require('./cli/program.ts').start()
export const main = (...given) => require('./cli/program.ts').main(...given)`

const RUN = `
  const url = pathToFileURL(join(folder, 'nodewise.js'))
  const { start } = load(require, url.href, part)
  function run(model, inputs) {
    const given = 'ids' in inputs ? ['-i', 'ids=[0]'] : ['--fill', 'zeros']
    process.argv = [process.execPath, url.pathname, 'run', model, ...given]
    start()
  }`

/** @param {string} folder where the files go */
async function bundle(folder) {
  const finish = beginBuild(folder, BUNDLE_INPUTS)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { files } = await buildProgram(ENTRY, FIRST, {
    define: { NODEWISE_VERSION: JSON.stringify(version) },
    plugins: [withoutChildProcess]
  })
  writeFiles(folder, { 'package.json': '{"type": "commonjs"}\n', ...files, 'nodewise.js': START })
  chmodSync(join(folder, 'nodewise.js'), 0o755)
  writeCaches(folder, RUN)
  writeFiles(folder, { 'nodewise.1': execFileSync(process.execPath, [join(folder, 'nodewise.js'), 'man']) })
  finish()
}

await bundle(resolve(process.argv[2] ?? join(root, 'bin')))
