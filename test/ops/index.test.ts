import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createRegistry } from '../../src/bind/registry.ts'
import { allTypes, onnxSchema, openvinoSchema } from '../../src/bind/schema.ts'
import { reasonOf } from '../../src/bind/unsupported.ts'
import type { Dialect } from '../../src/graph/graph.ts'
import type { Op } from '../../src/op-kit/define.ts'
import { hasKernel } from '../../src/op-kit/rules.ts'
import { ALL_OPS } from '../../src/ops/all.ts'
import * as ops from '../../src/ops/index.ts'
import * as rules from '../../src/ops/rules.ts'

const folder = new URL('../../src/ops/', import.meta.url)

/** Anything that is an operator or a list of them. */
const operatorsOf = (value: unknown): Op[] =>
  Array.isArray(value)
    ? value.flatMap(operatorsOf)
    : typeof value === 'object' && value !== null && 'operands' in value && 'run' in value
      ? [value as Op]
      : []

/** The members that `defineRules` leaves to `withKernel` are not compared. */
const withoutKernel = (op: Op): object => ({ ...op, run: undefined, pack: undefined, resampling: undefined })

test('the index lists every operator of every file, and rules.ts all rules', async () => {
  const listed = new Set([ALL_OPS, ...Object.values(rules)].flatMap(operatorsOf))
  const missing: string[] = []
  for (const file of readdirSync(folder, { recursive: true })
    .map(String)
    .filter(name => name.endsWith('.ts') && !['index.ts', 'all.ts', 'rules.ts'].includes(name))) {
    const exported = Object.values((await import(new URL(file, folder).href)) as Record<string, unknown>).flatMap(
      operatorsOf
    )
    missing.push(...exported.filter(op => !listed.has(op)).map(op => `${file}: ${op.name}`))
  }
  expect(missing, 'operators that src/ops/index.ts, or rules that src/ops/rules.ts does not export').toEqual([])
})

describe('the lists of operators that run and of those that are checked', () => {
  test('have the same names, and each operator the same rules', () => {
    const [names, runnable] = [rules, ops].map(list => Object.keys(list).sort())
    expect(names, 'names of src/ops/rules.ts beside those of src/ops/index.ts').toEqual(runnable)
    for (const [name, list] of Object.entries(ops)) {
      const running = operatorsOf(list)
      const checked = operatorsOf(rules[name as keyof typeof rules])
      expect(
        checked.map(op => withoutKernel(op)),
        name
      ).toEqual(running.map(op => withoutKernel(op)))
    }
  })

  test('differ in kernels: all of the first run, the second has those of families that decide shapes', () => {
    expect(ALL_OPS.filter(op => !hasKernel(op))).toEqual([])
    const without = Object.values(rules)
      .flatMap(operatorsOf)
      .filter(op => !hasKernel(op))
    expect(without.map(op => op.name)).toContain('Conv')
    for (const name of ['Gather', 'Add', 'Concat', 'Shape', 'NonMaxSuppression', 'StringSplit'])
      expect(without.map(op => op.name)).not.toContain(name)
  })
})

test('no two operators claim the same version of a type', () => {
  const seen = new Map<string, string>()
  for (const op of ALL_OPS) {
    for (const dialect of ['onnx', 'openvino'] as const) {
      for (const { domain = '', type = op.name, since } of op[dialect] ?? []) {
        const key = `${dialect} ${domain} ${type} ${since}`
        expect(seen.get(key), key).toBeUndefined()
        seen.set(key, op.name)
      }
    }
  }
})

describe('the operators of the standards', () => {
  const registry = createRegistry(ALL_OPS)
  /** Nodes of these types are not calls: bind makes constants, graph inputs and graph outputs of them. */
  const STRUCTURAL = new Set(['onnx Constant', 'openvino Const', 'openvino Parameter', 'openvino Result'])

  for (const dialect of ['onnx', 'openvino'] as Dialect[]) {
    test(`of ${dialect}: operator versions exist only for types and versions of the standard`, () => {
      for (const op of ALL_OPS) {
        for (const { domain = 'ai.onnx', type = op.name, since } of op[dialect] ?? []) {
          const known =
            dialect === 'onnx'
              ? onnxSchema(domain, type, since)
              : Array.from({ length: 17 }, (_, i) => openvinoSchema(type, `opset${i + 1}`)).find(
                  found => found?.schema.version === since
                )
          expect(known, `${dialect} ${type}-${since}`).toBeDefined()
        }
      }
    })

    test(`of ${dialect}: all are supported but those that say why not`, () => {
      const all = allTypes(dialect).filter(({ type }) => !STRUCTURAL.has(`${dialect} ${type}`))
      const isSupported = ({ domain, type, versions }: (typeof all)[number]): boolean =>
        versions.every(version => registry.find(dialect, domain, type, version))
      const unwritten = all.filter(each => !isSupported(each) && reasonOf(each.domain, each.type) === undefined)
      expect(
        unwritten.map(({ type }) => type),
        'neither supported nor in src/bind/unsupported.ts'
      ).toEqual([])
      const needless = all.filter(each => isSupported(each) && reasonOf(each.domain, each.type) !== undefined)
      expect(
        needless.map(({ type }) => type),
        'supported, yet still in src/bind/unsupported.ts'
      ).toEqual([])
      expect(all.filter(isSupported).length).toBeGreaterThan(150)
    })
  }
})
