import { build } from 'esbuild'
import { ROOT } from './corpus.mjs'

/** Bundles a module that takes mutants, such as target.ts, into one that Node runs. */
export const bundleTarget = (source, outfile) =>
  build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" }
  })
