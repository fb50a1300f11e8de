/** Patterns of the files that a build of the page depends on, from the root of the repository. */
export const INPUTS = [
  'models/*.{onnx,xml,bin}',
  'package-lock.json',
  'packages/view/{index.html,inputs.ts,vite.config.ts}',
  'packages/view/{public,src}/**',
  'scripts/stamp.mjs',
  'src/**/*.{ts,js}'
]
