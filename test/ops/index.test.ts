import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createRegistry } from '../../src/bind/registry.ts'
import { allTypes, onnxRule, openvinoRule } from '../../src/bind/schema.ts'
import type { Dialect } from '../../src/graph/graph.ts'
import type { Op } from '../../src/op-kit/define.ts'
import { ALL_OPS } from '../../src/ops/all.ts'

const folder = new URL('../../src/ops/', import.meta.url)

/** Anything that is an operator or a list of them. */
const operatorsOf = (value: unknown): Op[] =>
  Array.isArray(value)
    ? value.flatMap(operatorsOf)
    : typeof value === 'object' && value !== null && 'operands' in value && 'run' in value
      ? [value as Op]
      : []

test('the index lists every operator of every file', async () => {
  const listed = new Set(ALL_OPS)
  const missing: string[] = []
  for (const file of readdirSync(folder, { recursive: true })
    .map(String)
    .filter(name => name.endsWith('.ts') && !['index.ts', 'all.ts'].includes(name))) {
    const exported = Object.values((await import(new URL(file, folder).href)) as Record<string, unknown>).flatMap(
      operatorsOf
    )
    missing.push(...exported.filter(op => !listed.has(op)).map(op => `${file}: ${op.name}`))
  }
  expect(missing, 'operators that src/ops/index.ts does not export').toEqual([])
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

/**
 * Operators of the standards, with the versions, that Nodewise lacks: where to look for what to add. What is added
 * leaves this list in the same change.
 */
const MISSING: Readonly<Record<Dialect, readonly string[]>> = {
  onnx: [
    'Gradient (1)',
    'com.microsoft::BeamSearch (1)',
    'com.microsoft::BiasAdd (1)',
    'com.microsoft::BiasDropout (1)',
    'com.microsoft::BiasSoftmax (1)',
    'com.microsoft::BiasSplitGelu (1)',
    'com.microsoft::BitmaskBiasDropout (1)',
    'com.microsoft::BitmaskDropout (1)',
    'com.microsoft::ComplexMul (1)',
    'com.microsoft::ComplexMulConj (1)',
    'com.microsoft::DecoderAttention (1)',
    'com.microsoft::DecoderMaskedSelfAttention (1)',
    'com.microsoft::DequantizeBFP (1)',
    'com.microsoft::DequantizeWithOrder (1)',
    'com.microsoft::DynamicSparseAttention (1)',
    'com.microsoft::EPContext (1)',
    'com.microsoft::FusedMatMulActivation (1)',
    'com.microsoft::GatedDeltaNet (1)',
    'com.microsoft::GatedRelativePositionBias (1)',
    'com.microsoft::GemmFastGelu (1)',
    'com.microsoft::GemmFloat8 (1)',
    'com.microsoft::GemmaRotaryEmbedding (1)',
    'com.microsoft::GreedySearch (1)',
    'com.microsoft::GroupNorm (1)',
    'com.microsoft::Irfft (1)',
    'com.microsoft::IsAllFinite (1)',
    'com.microsoft::LongformerAttention (1)',
    'com.microsoft::MatMulBlockQuantizedFp4Weight (1)',
    'com.microsoft::MatMulBlockQuantizedFp8Weight (1)',
    'com.microsoft::MatMulNBitsMlp (1)',
    'com.microsoft::MatMulNBitsQkv (1)',
    'com.microsoft::NhwcConv (1)',
    'com.microsoft::NhwcFusedConv (1)',
    'com.microsoft::PackedAttention (1)',
    'com.microsoft::PackedMultiHeadAttention (1)',
    'com.microsoft::PackedSparseAttentionIndexer (1)',
    'com.microsoft::PagedAttention (1)',
    'com.microsoft::QOrderedAttention (1)',
    'com.microsoft::QOrderedGelu (1)',
    'com.microsoft::QOrderedLayerNormalization (1)',
    'com.microsoft::QOrderedLongformerAttention (1)',
    'com.microsoft::QOrderedMatMul (1)',
    'com.microsoft::QuantizeBFP (1)',
    'com.microsoft::QuantizeWithOrder (1)',
    'com.microsoft::RelativePositionBias (1)',
    'com.microsoft::RemovePadding (1)',
    'com.microsoft::RestorePadding (1)',
    'com.microsoft::Rfft (1)',
    'com.microsoft::Sampling (1)',
    'com.microsoft::SkipGroupNorm (1)',
    'com.microsoft::Snpe (1)',
    'com.microsoft::SparseAttentionIndexer (1)',
    'com.microsoft::SparsePagedAttention (1)',
    'com.microsoft::SparseToDenseMatMul (1)',
    'com.microsoft::TorchEmbedding (1)',
    'com.microsoft::VarlenCausalConvWithState (1)',
    'com.microsoft::WhisperBeamSearch (1)'
  ],
  openvino: []
}

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
              ? onnxRule(domain, type, since)
              : Array.from({ length: 17 }, (_, i) => openvinoRule(type, `opset${i + 1}`)).find(
                  found => found?.rule.version === since
                )
          expect(known, `${dialect} ${type}-${since}`).toBeDefined()
        }
      }
    })

    test(`of ${dialect}: all are supported but those that are listed as missing`, () => {
      const all = allTypes(dialect).filter(({ type }) => !STRUCTURAL.has(`${dialect} ${type}`))
      const missing = all.flatMap(({ domain, type, versions }) => {
        const absent = versions.filter(version => !registry.find(dialect, domain, type, version))
        const name = domain === 'com.microsoft' ? `${domain}::${type}` : type
        return absent.length > 0 ? [`${name} (${absent.join(', ')})`] : []
      })
      expect(missing.filter(name => !MISSING[dialect].includes(name))).toEqual([])
      expect(missing.length).toBeLessThan(all.length / 2)
    })
  }
})
