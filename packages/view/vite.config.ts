import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { hashInputs, STAMP } from './inputs.ts'

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
  let inputs: string
  return {
    name: 'stamp',
    apply: 'build',
    buildStart() {
      inputs = hashInputs()
    },
    writeBundle({ dir = here('dist') }) {
      writeFileSync(`${dir}/${STAMP}`, inputs)
    }
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
