// Packs the package as `npm publish` would, after `npm run build`, and checks what comes out: that its exports lead to
// files (publint), that its types fit what runs (check-types.mjs), and that the snippets of the docs compile and run
// with it: node scripts/check-package.mjs
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkSnippets } from './check-snippets.mjs'
import { checkTypes } from './check-types.mjs'
import { root } from './program.mjs'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-package-'))

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) {
    console.error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
    process.exitCode = 1
  }
  return stdout
}

try {
  const [{ filename, size, unpackedSize }] = JSON.parse(
    run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)
  )
  const packed = join(folder, filename)
  run('npx', '--no-install', 'publint', 'run', packed, '--strict')
  run('tar', '-xzf', packed, '-C', folder)
  mkdirSync(join(folder, 'node_modules'))
  renameSync(join(folder, 'package'), join(folder, 'node_modules/nodewise'))
  // What npm would install beside it; the rest is bundled or optional.
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link, 'junction')
  }
  for (const problem of [...(await checkTypes(packed)), ...checkSnippets(folder)]) {
    console.error(problem)
    process.exitCode = 1
  }
  console.log(`${filename}: ${(size / 2 ** 20).toFixed(1)} MiB, ${(unpackedSize / 2 ** 20).toFixed(1)} MiB unpacked`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
