// WebAssembly in bundles for Node: files beside the scripts, since to make the bytes of text takes longer than to
// compile them, and a start would read the text.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../src/wasm/', import.meta.url))

/** The files, which `build-kernels.mjs` makes. */
export const WASM_FILES = ['kernels.wasm', 'compute.wasm', 'relaxed.wasm']

/** The same with their content. */
export const wasmFiles = () => Object.fromEntries(WASM_FILES.map(name => [name, readFileSync(folder + name)]))

/** A plugin of esbuild that puts a module in place of `wasm/modules.ts` which asks for the files. */
export const wasmInFiles = {
  name: 'wasm-in-files',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\]wasm[/\\]modules\.ts$/ }, () => ({
      contents: `
        export const gatheringBytes = () => nodewisePart('kernels.wasm')
        export const computingBytes = isRelaxed => nodewisePart(isRelaxed ? 'relaxed.wasm' : 'compute.wasm')`
    }))
  }
}
