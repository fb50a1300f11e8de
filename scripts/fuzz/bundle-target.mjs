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
    // Every process of the fuzzer reads it. Names stay, so that a stack can be read.
    minifySyntax: true,
    minifyWhitespace: true,
    outfile,
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" }
  })
