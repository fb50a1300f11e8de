import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { globSync } from 'tinyglobby'
import type { Plugin } from 'vitest/config'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
/** Beside the packages, which the compiled sources import. */
const FOLDER = join(ROOT, 'node_modules/.nodewise-test-')

/** Sources that load packages which few tests need, or register themselves with one: they stay modules of their own. */
const APART = /\/src\/(cli|entries|onnxruntime)\//

/**
 * Has tests import the sources as modules of Node, which are compiled all at once. Vitest would transform each of them
 * for each project, and make each use of an imported name the call of a getter: 15 % of the time of tests that compute.
 *
 * @param define names that stand for expressions in the sources
 */
export function compiledSources(define: Readonly<Record<string, string>>): Plugin {
  const folder = mkdtempSync(FOLDER)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const compiled = compile(folder, define)
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    // What lies in node_modules is left to Node.
    async resolveId(source, importer) {
      const path = pathOf(source, importer)
      if (!path.startsWith(SOURCES + sep)) return null
      await compiled
      return join(folder, relative(SOURCES, path).replace(/\.[jt]s$/, '.mjs'))
    }
  }
}

/** The path that an import names, or what it says where that is no path. */
function pathOf(source: string, importer: string | undefined): string {
  if (source.startsWith('file:')) return fileURLToPath(source)
  return source.startsWith('.') && importer !== undefined ? join(dirname(importer), source) : source
}

/**
 * Compiles the sources to one module, which a process loads in a third of the time that a thousand modules take, and a
 * module for each source that exports what the source does.
 */
async function compile(folder: string, define: Readonly<Record<string, string>>): Promise<void> {
  const sources = globSync('**/*.{ts,js}', { cwd: SOURCES, ignore: ['**/*.d.ts', 'wasm/assembly'] })
  const bundle = await rolldown({
    input: Object.fromEntries(sources.map(source => [source.replace(/\.[jt]s$/, ''), join(SOURCES, source)])),
    // Packages, and modules of Node.
    external: /^[^./]/,
    platform: 'node',
    treeshake: false,
    transform: { target: 'node20', define: { ...define } },
    // Modules that are loaded when needed are in the one module too.
    checks: { ineffectiveDynamicImport: false }
  })
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name].mjs',
    codeSplitting: { groups: [{ name: 'sources', test: id => !APART.test(id) }] }
  })
}
