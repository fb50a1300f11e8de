import { resolve } from 'node:path'
// Modules of functions that bundles for Node run when one of the functions is first called: what they set up takes a
// sixth of the time in which the library starts, and most programs never call them.
import { fileURLToPath } from 'node:url'

const src = fileURLToPath(new URL('../src/', import.meta.url))

/** The functions of a module that are imported, by what resolves to it. */
const FUNCTIONS = {
  // Makes the tables of Huffman codes and looks for threads.
  fflate: ['inflateSync', 'zipSync'],
  // Names the conversions of all operators.
  [resolve(src, 'entries/all/convert.ts')]: ['convert'],
  [resolve(src, 'report/report.ts')]: ['htmlReport']
}

const NAMESPACE = 'lazy'

/** A plugin of esbuild. */
export const lazyModules = {
  name: 'lazy-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^fflate$|[/](?:convert|report)\.ts$/ }, ({ path, resolveDir, namespace }) => {
      const module = path.startsWith('.') ? resolve(resolveDir, path) : path
      return namespace !== NAMESPACE && module in FUNCTIONS ? { path: module, namespace: NAMESPACE } : undefined
    })
    onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
      contents: FUNCTIONS[path]
        .map(name => `export const ${name} = (...given) => require(${JSON.stringify(path)}).${name}(...given)`)
        .join('\n'),
      resolveDir: src
    }))
  }
}
