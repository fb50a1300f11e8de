import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { beginBuild } from '../../scripts/stamp.mjs'
import { INPUTS } from './inputs.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The models of the package `nodewise` lie beside the page: its gallery opens them. */
const gallery = (): Plugin => ({
  name: 'gallery',
  apply: 'build',
  writeBundle({ dir = here('dist') }) {
    const from = here('../../models')
    const to = `${dir}/models`
    mkdirSync(to, { recursive: true })
    for (const name of readdirSync(from))
      if (/\.(onnx|xml|bin)$/.test(name)) copyFileSync(`${from}/${name}`, `${to}/${name}`)
  }
})

/** Says in the build what it was built of: tests take it while that is as it was. */
const stamp = (): Plugin => {
  let folder: string
  let finish: () => void
  return {
    name: 'stamp',
    apply: 'build',
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir)
    },
    buildStart() {
      finish = beginBuild(folder, INPUTS)
    },
    writeBundle: () => finish()
  }
}

export default defineConfig({
  root: here('.'),
  // Every address is relative, so that the page works below any path.
  base: './',
  plugins: [gallery(), stamp()],
  // The engine is built from its sources: what the page does not use is left out.
  resolve: { alias: { nodewise: here('../../src/index.ts') } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    modulePreload: false,
    // The policy of the page forbids data: addresses for scripts; small files stay files.
    assetsInlineLimit: 0,
    // What has light-dark(), which says each colour once.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    chunkSizeWarningLimit: 4096,
    reportCompressedSize: false
  }
})
