import { defineConfig } from 'eslint/config'
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript'
import importX, { flatConfigs } from 'eslint-plugin-import-x'
import tseslint from 'typescript-eslint'

/**
 * What each layer may import besides itself, errors.ts and host.ts. Imports run one way; docs/architecture.md draws it.
 */
const LAYERS = {
  tensor: [],
  files: [],
  graph: ['tensor', 'files'],
  onnx: ['tensor', 'files', 'graph'],
  openvino: ['tensor', 'files', 'graph'],
  io: ['tensor', 'files', 'graph', 'onnx'],
  shapes: ['tensor'],
  kernels: ['tensor', 'shapes'],
  // Of graph only what a node and an attribute are: operators read them when they are bound.
  'op-kit': ['tensor', 'shapes', 'kernels', 'graph'],
  ops: ['tensor', 'shapes', 'kernels', 'graph', 'op-kit'],
  // Faster kernels for operators: it knows operators, and no operator knows it.
  wasm: ['tensor', 'shapes', 'kernels', 'op-kit', 'ops'],
  bind: ['tensor', 'shapes', 'kernels', 'op-kit', 'graph'],
  infer: ['tensor', 'shapes', 'kernels', 'op-kit', 'graph', 'bind'],
  check: ['tensor', 'shapes', 'kernels', 'op-kit', 'graph', 'bind', 'infer'],
  plan: ['tensor', 'files', 'shapes', 'kernels', 'op-kit', 'graph', 'bind', 'infer', 'wasm'],
  runtime: ['tensor', 'files', 'shapes', 'kernels', 'op-kit', 'graph', 'bind', 'infer', 'wasm', 'plan'],
  'load.ts': ['tensor', 'files', 'graph', 'onnx', 'openvino']
}

/** The command and the doors of the package may import everything; nothing imports them. */
const zones = Object.entries(LAYERS).map(([layer, below]) => ({
  target: `./src/${layer}`,
  from: './src',
  except: [layer, ...below, 'errors.ts', 'host.ts'].map(part => `./${part}`),
  message: `src/${layer} may import ${['errors.ts', 'host.ts', ...below].join(', ')} only`
}))

export default defineConfig(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'bin/',
      'coverage/',
      'src/onnx/schema.js',
      'src/wasm/binaries.js',
      'src/wasm/assembly/',
      'src/bind/schemas/onnx.ts',
      'src/bind/schemas/openvino.ts'
    ]
  },
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
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'import-x/no-cycle': 'error',
      'import-x/no-unresolved': 'error',
      'import-x/no-duplicates': 'error',
      'import-x/no-restricted-paths': ['error', { zones }],
      'import-x/order': [
        'error',
        {
          groups: ['builtin', 'external', 'internal', ['parent', 'sibling', 'index']],
          'newlines-between': 'never',
          alphabetize: { order: 'asc', caseInsensitive: true }
        }
      ],
      'sort-imports': ['error', { ignoreDeclarationSort: true, ignoreCase: true }],
      eqeqeq: 'error',
      'max-len': ['error', { code: 120, ignorePattern: '^import ' }],
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
      'prefer-const': ['error', { destructuring: 'all' }]
    }
  },
  {
    // Rules that ask the compiler for types.
    files: ['src/**/*.ts', 'test/**/*.ts'],
    ignores: ['src/**/*.d.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/return-await': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }]
    }
  },
  {
    files: ['src/**', 'scripts/**', 'bench/**', 'examples/**'],
    rules: {
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }]
    }
  },
  {
    // The peers are dependencies of bench/ only, where a checkout need not install them.
    files: ['bench/**'],
    rules: { 'import-x/no-unresolved': ['error', { ignore: ['^onnxruntime-'] }] }
  }
)
