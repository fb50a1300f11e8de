// Modules of functions that bundles for Node run when one of the functions is first called: what they set up takes much
// of the time in which the library starts, and most programs never call them.
import { basename, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const src = fileURLToPath(new URL('../src/', import.meta.url))

/** The functions of a module that are imported, by its package or its path in `src/`. */
const FUNCTIONS = {
  // Makes the tables of Huffman codes and looks for threads.
  fflate: ['inflateSync', 'zipSync'],
  // Makes the parser's regular expressions, which most files of an IR do not need.
  'openvino/strict-xml.ts': ['strictXmlReader'],
  // Names the conversions of all operators.
  'entries/all/convert.ts': ['convert'],
  'report/report.ts': ['htmlReport'],
  // Lists the accelerated kernels of all operators.
  'wasm/selectors.ts': ['identicalSelector', 'roundedSelector', 'widenedSelector']
}

/** The same of modules that are had whole where an entry does not import them. */
const FUNCTIONS_OF_ENTRIES = {
  'convert/formats.ts': ['filesOf'],
  'entries/all/check.ts': ['check'],
  'entries/all/compare-structure.ts': ['compareStructure'],
  'entries/all/compare.ts': ['compare'],
  'entries/all/fix.ts': ['fix'],
  'entries/all/meaning.ts': ['meaningOf'],
  'entries/all/parse-tensor.ts': ['parseTensor'],
  'entries/all/propagate.ts': ['propagate'],
  'entries/all/supported-ops.ts': ['supportedOps'],
  'entries/all/text.ts': ['parseModel', 'printModel'],
  'entries/named/check.ts': ['check'],
  'entries/named/propagate.ts': ['propagate'],
  'io/json-tensor.ts': ['dataToJson', 'tensorFromJson'],
  'io/json-text.ts': ['parseJsonExact', 'stringifyExact'],
  'io/npy.ts': ['readNpy', 'writeNpy'],
  'io/npz.ts': ['readNpz', 'writeNpz'],
  'onnx/values.ts': ['decodeTensorProto'],
  'runtime/profile.ts': ['chromeTrace', 'profiledStep']
}

const NAMESPACE = 'lazy'
const fileNames = [FUNCTIONS, FUNCTIONS_OF_ENTRIES].flatMap(Object.keys).map(name => basename(name).replace('.', '\\.'))
/** Imports that may lead to one. What passes, esbuild asks this process for, which takes it longer than to bundle. */
const MAY_LEAD = new RegExp(`(?:^|/)(?:${fileNames.join('|')})$`)
const isEntry = name => name === 'index.ts' || name.startsWith('entries/')
const nameOf = path => relative(src, path).replaceAll('\\', '/')

/** A plugin of esbuild. */
export const lazyModules = {
  name: 'lazy-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: MAY_LEAD }, ({ path, resolveDir, namespace, importer, kind }) => {
      if (namespace === NAMESPACE || kind !== 'import-statement') return undefined
      const module = path.startsWith('.') ? nameOf(resolve(resolveDir, path)) : path
      const isLazy = module in FUNCTIONS || (module in FUNCTIONS_OF_ENTRIES && isEntry(nameOf(importer)))
      return isLazy ? { path: module, namespace: NAMESPACE } : undefined
    })
    onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => {
      const module = JSON.stringify(path.endsWith('.ts') ? `./${path}` : path)
      const functions = FUNCTIONS[path] ?? FUNCTIONS_OF_ENTRIES[path]
      return {
        contents: functions
          .map(name => `export const ${name} = (...given) => require(${module}).${name}(...given)`)
          .join('\n'),
        resolveDir: src
      }
    })
  }
}
