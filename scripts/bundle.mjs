// Bundles the command line: node scripts/bundle.mjs [FOLDER], bin by default. What comes out:
//   program.js     everything in one script; modules that a command imports when it is called run then
//   program.*.cache  V8's compiled form of it for this version of Node, which saves half of the time to start
//   nodewise.js    the command, which starts the program
//   nodewise.1     the manual page
//   licenses.txt   the licences of the packages that went into it
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildProgram, LOAD, root, SAMPLES, writeCache, writeFiles } from './program.mjs'

const START = `#!/usr/bin/env node
'use strict'
${LOAD}
compiled()(require, pathToFileURL(__filename).href).start()
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

const RUN = `
  for (const model of ${JSON.stringify(SAMPLES)}) {
    process.argv = [process.execPath, join(folder, 'nodewise.js'), 'run', model, '-i', 'ids=[0]']
    load(require, pathToFileURL(process.argv[1]).href).start()
  }`

/** @param {string} folder where the files go */
export async function bundle(folder) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { program, licenses } = await buildProgram({
    entryPoints: [join(root, 'src/cli/program.ts')],
    outfile: join(folder, 'program.js'),
    define: { NODEWISE_VERSION: JSON.stringify(version) },
    plugins: [withoutChildProcess]
  })
  writeFiles(folder, {
    'package.json': '{"type": "commonjs"}\n',
    'licenses.txt': licenses,
    'program.js': program,
    'nodewise.js': START
  })
  chmodSync(join(folder, 'nodewise.js'), 0o755)
  writeCache(folder, RUN)
  writeFiles(folder, { 'nodewise.1': execFileSync(process.execPath, [join(folder, 'nodewise.js'), 'man']) })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await bundle(resolve(process.argv[2] ?? join(root, 'bin')))
