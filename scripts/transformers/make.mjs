// Writes small models with random weights, as transformers.js finds them in a folder: graphs with the inputs and
// outputs that Optimum gives them, configurations, tokenizers. node scripts/transformers/make.mjs FOLDER
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bartEncoder, mergedDecoder, whisperEncoder } from './seq2seq.mjs'
import { detr, resnet, vit, wav2vec2 } from './signals.mjs'
import { bert, gpt2, llama } from './text.mjs'
import { bartTokenizer, characters, gptTokenizer, whisperTokenizer, wordPieces, WORDS } from './tokenizers.mjs'

/** What Whisper hears at once, in seconds, and how finely. */
const [SECONDS, BANDS, HOP, RATE] = [5, 80, 160, 16000]
const FRAMES = (SECONDS * RATE) / HOP
const SIDE = 64

const labelled = names => ({
  id2label: Object.fromEntries(names.map((name, i) => [i, name])),
  label2id: Object.fromEntries(names.map((name, i) => [name, i]))
})

/** A BERT for a task: its files by path. */
function bertFiles(architecture, head, names, { form, suffix = '' } = {}, seed = 1) {
  const config = { model_type: 'bert', architectures: [architecture], hidden_size: 32, pad_token_id: 0 }
  return {
    ...wordPieces(),
    'config.json': { ...config, vocab_size: WORDS.length, ...labelled(names) },
    [`onnx/model${suffix}.onnx`]: bert({
      seed,
      form,
      vocabulary: WORDS.length,
      head,
      labels: head === 'tokens' && names.length === 0 ? WORDS.length : names.length
    })
  }
}

function generatorFiles(name, config, make, suffix = '') {
  const { size, vocab, ...files } = gptTokenizer()
  const end = vocab['<|endoftext|>']
  const ids = { bos_token_id: end, eos_token_id: end, pad_token_id: end, vocab_size: size }
  return {
    ...files,
    'config.json': { model_type: name, ...config, ...ids },
    'generation_config.json': { ...ids, max_new_tokens: 12 },
    [`onnx/model${suffix}.onnx`]: make(size)
  }
}

const DECODER = {
  d_model: 32,
  decoder_layers: 2,
  decoder_attention_heads: 4,
  encoder_layers: 2,
  encoder_attention_heads: 4,
  is_encoder_decoder: true
}

function bartFiles() {
  const { size, vocab, ...files } = bartTokenizer()
  const ids = {
    bos_token_id: vocab['<s>'],
    eos_token_id: vocab['</s>'],
    pad_token_id: vocab['<pad>'],
    decoder_start_token_id: vocab['</s>']
  }
  return {
    ...files,
    'config.json': {
      model_type: 'bart',
      architectures: ['BartForConditionalGeneration'],
      ...DECODER,
      ...ids,
      vocab_size: size
    },
    'generation_config.json': { ...ids, max_new_tokens: 16, no_repeat_ngram_size: 3 },
    'onnx/encoder_model.onnx': bartEncoder({ seed: 5, vocabulary: size }),
    'onnx/decoder_model_merged.onnx': mergedDecoder({ seed: 5, kind: 'bart', vocabulary: size })
  }
}

function whisperFiles() {
  const { size, vocab, ...files } = whisperTokenizer(SECONDS)
  const id = word => vocab[`<|${word}|>`]
  const ids = {
    bos_token_id: id('endoftext'),
    eos_token_id: id('endoftext'),
    pad_token_id: id('endoftext'),
    decoder_start_token_id: id('startoftranscript')
  }
  return {
    ...files,
    'config.json': {
      model_type: 'whisper',
      architectures: ['WhisperForConditionalGeneration'],
      ...DECODER,
      ...ids,
      vocab_size: size,
      max_source_positions: FRAMES / 2,
      num_mel_bins: BANDS
    },
    'generation_config.json': {
      ...ids,
      max_new_tokens: 12,
      is_multilingual: true,
      lang_to_id: { '<|en|>': id('en'), '<|de|>': id('de') },
      task_to_id: { transcribe: id('transcribe'), translate: id('translate') },
      no_timestamps_token_id: id('notimestamps'),
      begin_suppress_tokens: [id('endoftext')]
    },
    'preprocessor_config.json': {
      feature_extractor_type: 'WhisperFeatureExtractor',
      processor_class: 'WhisperProcessor',
      feature_size: BANDS,
      sampling_rate: RATE,
      hop_length: HOP,
      chunk_length: SECONDS,
      n_fft: 400,
      n_samples: SECONDS * RATE,
      nb_max_frames: FRAMES
    },
    'onnx/encoder_model.onnx': whisperEncoder({ seed: 6, bands: BANDS, frames: FRAMES }),
    'onnx/decoder_model_merged.onnx': mergedDecoder({ seed: 6, kind: 'whisper', vocabulary: size })
  }
}

function wav2vec2Files() {
  const { size, ...files } = characters()
  return {
    ...files,
    'config.json': { model_type: 'wav2vec2', architectures: ['Wav2Vec2ForCTC'], vocab_size: size, pad_token_id: 0 },
    'preprocessor_config.json': {
      feature_extractor_type: 'Wav2Vec2FeatureExtractor',
      processor_class: 'Wav2Vec2Processor',
      do_normalize: true,
      feature_size: 1,
      sampling_rate: RATE
    },
    'onnx/model.onnx': wav2vec2({ seed: 7, vocabulary: size })
  }
}

function pictureFiles(config, processor, labels, model) {
  return {
    'config.json': { ...config, ...labelled(labels) },
    'preprocessor_config.json': {
      do_resize: true,
      do_rescale: true,
      rescale_factor: 1 / 255,
      do_normalize: true,
      image_mean: [0.485, 0.456, 0.406],
      image_std: [0.229, 0.224, 0.225],
      resample: 2,
      ...processor
    },
    'onnx/model.onnx': model
  }
}

const KINDS = ['cat', 'dog', 'bird', 'fish', 'tree']
const NAMED = ['O', 'B-PER', 'B-LOC', 'B-ORG']
const llamaConfig = { hidden_size: 32, num_attention_heads: 2, num_key_value_heads: 1, num_hidden_layers: 2 }
const square = { feature_extractor_type: 'ViTFeatureExtractor', size: { height: SIDE, width: SIDE } }

/** The files of each model by its name. */
export const MODELS = {
  bert: () => bertFiles('BertModel', 'hidden', []),
  'bert-int8': () => bertFiles('BertModel', 'hidden', [], { form: 'int8', suffix: '_quantized' }),
  sentiment: () => bertFiles('BertForSequenceClassification', 'sequence', ['NEGATIVE', 'POSITIVE']),
  entailment: () =>
    bertFiles('BertForSequenceClassification', 'sequence', ['contradiction', 'neutral', 'entailment'], {}, 2),
  entities: () => bertFiles('BertForTokenClassification', 'tokens', NAMED),
  mask: () => bertFiles('BertForMaskedLM', 'tokens', []),
  answers: () => bertFiles('BertForQuestionAnswering', 'spans', [], {}, 3),
  gpt2: () =>
    generatorFiles('gpt2', { architectures: ['GPT2LMHeadModel'], n_head: 4, n_layer: 2, n_embd: 32 }, vocabulary =>
      gpt2({ seed: 4, vocabulary })
    ),
  'llama-int4': () =>
    generatorFiles(
      'llama',
      { architectures: ['LlamaForCausalLM'], ...llamaConfig },
      vocabulary => llama({ seed: 4, form: 'int4', vocabulary }),
      '_q4'
    ),
  bart: bartFiles,
  whisper: whisperFiles,
  wav2vec2: wav2vec2Files,
  vit: () =>
    pictureFiles(
      { model_type: 'vit', architectures: ['ViTForImageClassification'] },
      square,
      KINDS,
      vit({ seed: 8, side: SIDE, patch: 16, labels: KINDS.length })
    ),
  resnet: () =>
    pictureFiles(
      { model_type: 'resnet', architectures: ['ResNetForImageClassification'] },
      square,
      KINDS,
      resnet({ seed: 9, labels: KINDS.length })
    ),
  detr: () =>
    pictureFiles(
      { model_type: 'detr', architectures: ['DetrForObjectDetection'] },
      {
        feature_extractor_type: 'DetrFeatureExtractor',
        image_processor_type: 'DetrImageProcessor',
        size: { shortest_edge: SIDE, longest_edge: 1.5 * SIDE },
        do_pad: true
      },
      KINDS,
      detr({ seed: 10, labels: KINDS.length, queries: 10 })
    )
}

/** Writes all models, each into a folder of its name. */
export function makeModels(folder) {
  for (const [name, files] of Object.entries(MODELS))
    for (const [path, content] of Object.entries(files())) {
      if (!path.includes('.')) continue
      mkdirSync(join(folder, name, 'onnx'), { recursive: true })
      writeFileSync(join(folder, name, path), content instanceof Uint8Array ? content : JSON.stringify(content))
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) makeModels(process.argv[2])
