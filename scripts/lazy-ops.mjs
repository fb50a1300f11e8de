// The operators in bundles for Node: each is made when a model first names its type, since to make them all takes a
// third of the time in which the program starts.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('../src/ops/', import.meta.url))

/** The modules that list operators, the modules that hold them by type, and the names under which these do. */
const LIBRARIES = { 'library.ts': ['index.ts', 'opLibrary'], 'rule-library.ts': ['rules.ts', 'ruleLibrary'] }

/** The texts of libraries, by list: each part of a program asks for them. */
const texts = {}

/** A plugin of esbuild that puts libraries in place which load the file of an operator when it is asked for. */
export const lazyOps = {
  name: 'lazy-ops',
  setup({ onLoad }) {
    for (const [file, [list, exported]] of Object.entries(LIBRARIES))
      onLoad({ filter: new RegExp(`[/\\\\]src[/\\\\]ops[/\\\\]${file}$`) }, async () => ({
        contents: await (texts[list] ??= libraryText(list, exported)),
        resolveDir: folder
      }))
  }
}

/** @param list the module that exports the operators, a line for each file */
async function libraryText(list, exported) {
  const { contents } = await bundled(list)
  const ops = await import(`data:text/javascript;base64,${Buffer.from(contents).toString('base64')}`)
  const types = {}
  const makers = makersIn(list)
  const missing = Object.keys(ops).filter(name => !makers.some(({ outside }) => outside === name))
  if (missing.length > 0) throw new Error(`${list} exports ${missing.join(', ')} in a way that is not read here`)
  for (const [i, { outside }] of makers.entries())
    for (const { name, onnx = [], openvino = [] } of [ops[outside]].flat())
      for (const { type = name } of [...onnx, ...openvino]) (types[type] ??= new Set()).add(i)
  const placesOf = Object.entries(types).map(([type, places]) => [type, [...places]])
  return `import { lazyLibrary } from '../op-kit/library.ts'
export const ${exported} = lazyLibrary([
${makers.map(({ file, inFile }) => `() => require('${file}').${inFile}`).join(',\n')}
], ${JSON.stringify(Object.fromEntries(placesOf))})`
}

/** What a list exports: its own names, and of the lists that it exports as a whole those that it has not itself. */
function makersIn(list) {
  const text = readFileSync(folder + list, 'utf8')
  const own = [...text.matchAll(/^export \{([^}]+)\} from '([^']+)'/gm)].flatMap(([, names, file]) =>
    names.split(',').map(name => {
      const [inFile, outside = inFile] = name.trim().split(' as ')
      return { file, inFile, outside }
    })
  )
  const hidden = new Set(own.map(({ outside }) => outside))
  const whole = [...text.matchAll(/^export \* from '([^']+)'/gm)].flatMap(([, file]) => makersIn(file))
  return [...own, ...whole.filter(({ outside }) => !hidden.has(outside))]
}

/** A module of the operators with all that it imports. */
async function bundled(file) {
  const { outputFiles } = await build({
    entryPoints: [folder + file],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning'
  })
  return outputFiles[0]
}
