import { defineConfig } from 'eslint/config'
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript'
import importX, { flatConfigs } from 'eslint-plugin-import-x'
import tseslint from 'typescript-eslint'

/**
 * What each layer may import besides itself, errors.ts and host.ts. Imports run one way:
 * tensor ← graph ← {onnx, openvino}; tensor ← shapes ← kernels ← ops ← bind ← {check, runtime} ← load, index ← cli.
 */
const LAYERS = {
  tensor: [],
  graph: ['tensor'],
  onnx: ['tensor', 'graph'],
  openvino: ['tensor', 'graph'],
  io: ['tensor', 'graph', 'onnx'],
  shapes: ['tensor'],
  kernels: ['tensor', 'shapes'],
  // Of graph only what a node and an attribute are: operators read them when they are bound.
  ops: ['tensor', 'shapes', 'kernels', 'graph'],
  bind: ['tensor', 'shapes', 'kernels', 'ops', 'graph'],
  check: ['tensor', 'shapes', 'kernels', 'ops', 'graph', 'bind'],
  runtime: ['tensor', 'shapes', 'kernels', 'ops', 'graph', 'bind'],
  'load.ts': ['tensor', 'graph', 'onnx', 'openvino'],
  'index.ts': ['tensor', 'shapes', 'kernels', 'ops', 'graph', 'bind', 'check', 'runtime', 'onnx', 'openvino', 'io', 'load.ts']
}

/** The command may import everything; nothing imports the command. */
const zones = Object.entries(LAYERS).map(([layer, below]) => ({
  target: `./src/${layer}`,
  from: './src',
  except: [layer, ...below, 'errors.ts', 'host.ts'].map(part => `./${part}`),
  message: `src/${layer} may import ${['errors.ts', 'host.ts', ...below].join(', ')} only`
}))

export default defineConfig(
  { ignores: ['node_modules/', 'dist/', 'bin/', 'coverage/', 'src/onnx/schema.js', 'src/wasm/module.js', 'src/wasm/assembly/', 'src/bind/tables/'] },
  ...tseslint.configs.recommended,
  flatConfigs.typescript,
  {
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver({ project: './tsconfig.json' })] },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'import-x/no-cycle': 'error',
      'import-x/no-unresolved': 'error',
      'import-x/no-duplicates': 'error',
      'import-x/no-restricted-paths': ['error', { zones }],
      eqeqeq: 'error',
      'no-cond-assign': 'error',
      'no-constant-condition': ['error', { checkLoops: false }],
      'no-control-regex': 'error',
      'no-empty': 'error',
      'no-fallthrough': 'error',
      'no-self-assign': 'error',
      'no-unsafe-finally': 'error',
      'require-yield': 'error',
      'use-isnan': 'error',
      'valid-typeof': 'error',
      'no-var': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
      semi: ['error', 'never']
    }
  },
  {
    files: ['src/**', 'bench/**'],
    rules: { 'max-lines': ['error', 400] }
  },
  {
    // The peers are dependencies of bench/ only, where a checkout need not install them.
    files: ['bench/**'],
    rules: { 'import-x/no-unresolved': ['error', { ignore: ['^onnxruntime-'] }] }
  }
)
