import { mkdtempSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { globSync } from 'tinyglobby'
import type { Plugin } from 'vitest/config'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
/** Beside the packages, which the compiled sources import. */
const FOLDER = join(ROOT, 'node_modules/.nodewise-test-')

/**
 * Has tests import the sources as modules of Node, which are compiled all at once. Vitest would transform each of them
 * for each project, and make each use of an imported name the call of a getter: 15 % of the time of tests that compute.
 *
 * @param define names that stand for expressions in the sources
 */
export function compiledSources(define: Readonly<Record<string, string>>): Plugin {
  const folder = mkdtempSync(FOLDER)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Each source is an entry, so that tests can import any of them; what several need is in modules that they share.
  const compiled = build({
    entryPoints: globSync('**/*.{ts,js}', { cwd: SOURCES, ignore: ['**/*.d.ts', 'wasm/assembly'], absolute: true }),
    outbase: SOURCES,
    outdir: folder,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    define: { ...define },
    logLevel: 'warning'
  })
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    // What lies in node_modules is left to Node.
    async resolveId(source, importer, options) {
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
      if (!resolved?.id.startsWith(SOURCES)) return null
      await compiled
      return join(folder, relative(SOURCES, resolved.id).replace(/\.[jt]s$/, '.mjs'))
    }
  }
}
