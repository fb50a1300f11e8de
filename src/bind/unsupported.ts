const NO_KERNEL = 'ONNX Runtime has no kernel of it for CPUs, so there is nothing to hold results against'
const GENERATION = 'generates text in a loop around models that it holds; run such a model in a loop of your own'
const ENGINE = 'holds a model that an inference engine has compiled for itself'

/** Why operators of the tables are not supported, by domain and type. */
const REASONS: ReadonlyMap<string, string> = new Map(
  (
    [
      [
        'com.microsoft',
        NO_KERNEL,
        `BiasDropout BiasSoftmax BitmaskBiasDropout BitmaskDropout ComplexMul ComplexMulConj
         DecoderAttention DecoderMaskedSelfAttention DequantizeBFP DequantizeWithOrder DynamicSparseAttention
         FusedMatMulActivation GatedDeltaNet GatedRelativePositionBias GemmFastGelu GemmFloat8 GemmaRotaryEmbedding
         Irfft LongformerAttention MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight
         MatMulNBitsMlp MatMulNBitsQkv NhwcFusedConv PackedAttention PackedMultiHeadAttention
         PackedSparseAttentionIndexer PagedAttention QOrderedAttention QOrderedGelu
         QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeBFP QuantizeWithOrder
         RemovePadding RestorePadding Rfft SparseAttentionIndexer
         SparsePagedAttention TorchEmbedding VarlenCausalConvWithState`
      ],
      ['com.microsoft', GENERATION, 'BeamSearch GreedySearch Sampling WhisperBeamSearch'],
      ['com.microsoft', ENGINE, 'EPContext Snpe']
    ] as const
  ).flatMap(([domain, reason, types]) => types.split(/\s+/).map(type => [`${domain}::${type}`, reason] as const))
)

/** Why an operator that the tables name is not supported; undefined where nothing but the work is missing. */
export const reasonOf = (domain: string, type: string): string | undefined => REASONS.get(`${domain}::${type}`)
