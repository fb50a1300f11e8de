import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

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

export default defineConfig({
  root: here('.'),
  // Every address is relative, so that the page works below any path.
  base: './',
  plugins: [gallery()],
  // The engine is built from its sources: what the page does not use is left out.
  resolve: { alias: { nodewise: here('../../src/index.ts') } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    modulePreload: false,
    // The policy of the page forbids data: addresses for scripts; small files stay files.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4096,
    reportCompressedSize: false
  }
})
