// Tokenizers as files, of vocabularies that fit on a page.
const base = { version: '1.0', truncation: null, padding: null }

const added = (id, content) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true
})

const byIndex = words => Object.fromEntries(words.map((word, i) => [word, i]))

/** A text between a token before it and one behind it; two texts with `between`. */
function template(vocabulary, before, after, between = [after]) {
  const special = id => ({ SpecialToken: { id, type_id: 0 } })
  const sequence = (id, type) => ({ Sequence: { id, type_id: type } })
  return {
    type: 'TemplateProcessing',
    single: [special(before), sequence('A', 0), special(after)],
    pair: [special(before), sequence('A', 0), ...between.map(special), sequence('B', 1), special(after)],
    special_tokens: Object.fromEntries(
      [before, after].map(token => [token, { id: token, ids: [vocabulary[token]], tokens: [token] }])
    )
  }
}

export const WORDS = [
  ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'the', 'cat', 'dog', 'sat', 'on', 'mat', 'a', '##s', 'red'],
  ...['blue', 'is', 'was', 'hello', 'world', '.', 'who', 'where', '?', 'this', 'example', 'politics', 'about', 'in'],
  ...['berlin', 'anna', 'lives', 'and', 'works', 'for', 'acme', '##er', '##ing', 'sport', 'travel', ',']
]

/** BERT's: words, and pieces of words. */
export function wordPieces() {
  const vocab = byIndex(WORDS)
  return {
    'tokenizer.json': {
      ...base,
      added_tokens: WORDS.slice(0, 5).map((word, i) => added(i, word)),
      normalizer: {
        type: 'BertNormalizer',
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: null,
        lowercase: true
      },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      post_processor: template(vocab, '[CLS]', '[SEP]'),
      decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab
      }
    },
    'tokenizer_config.json': {
      tokenizer_class: 'BertTokenizer',
      pad_token: '[PAD]',
      unk_token: '[UNK]',
      cls_token: '[CLS]',
      sep_token: '[SEP]',
      mask_token: '[MASK]',
      model_max_length: 64
    }
  }
}

/** The characters by which byte-level tokenizers write bytes: visible ones for themselves, others from 256 on. */
function byteCharacters() {
  const isVisible = byte => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
  let others = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isVisible(byte) ? byte : others++))
}

const MERGES = ['Ġ t', 'h e', 'Ġt he', 'i n', 'Ġ a', 'e r', 'o n', 'a t']

/** GPT-2's: bytes, and pairs of what is there; `specials` come first, `more` last. */
function bytePairs(specials, more, processor) {
  const words = [...specials, ...byteCharacters(), ...MERGES.map(pair => pair.replace(' ', '')), ...more]
  const vocab = byIndex(words)
  return {
    vocab,
    size: words.length,
    'tokenizer.json': {
      ...base,
      added_tokens: [...specials, ...more].map(word => added(vocab[word], word)),
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: processor?.(vocab) ?? null,
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
      model: { type: 'BPE', vocab, merges: MERGES, continuing_subword_prefix: '', end_of_word_suffix: '' }
    }
  }
}

export function gptTokenizer() {
  const end = '<|endoftext|>'
  const config = { bos_token: end, eos_token: end, unk_token: end, pad_token: end, model_max_length: 64 }
  return {
    ...bytePairs([], [end]),
    'tokenizer_config.json': { tokenizer_class: 'GPT2Tokenizer', ...config, padding_side: 'left' }
  }
}

export function bartTokenizer() {
  const specials = ['<s>', '<pad>', '</s>', '<unk>', '<mask>']
  const config = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>', mask_token: '<mask>' }
  return {
    ...bytePairs(specials, [], vocab => template(vocab, '<s>', '</s>', ['</s>', '</s>'])),
    'tokenizer_config.json': { tokenizer_class: 'BartTokenizer', ...config, model_max_length: 64 }
  }
}

/** Whisper's: behind the bytes its commands, then times in steps of 20 ms up to `seconds`. */
export function whisperTokenizer(seconds) {
  const commands = ['endoftext', 'startoftranscript', 'en', 'de', 'translate', 'transcribe', 'startoflm']
  const more = [...commands, 'startofprev', 'nospeech', 'notimestamps'].map(word => `<|${word}|>`)
  const times = Array.from({ length: seconds * 50 + 1 }, (_, i) => `<|${(i / 50).toFixed(2)}|>`)
  const end = '<|endoftext|>'
  const config = { bos_token: end, eos_token: end, unk_token: end, pad_token: end, model_max_length: 64 }
  return {
    ...bytePairs([], [...more, ...times]),
    'tokenizer_config.json': { tokenizer_class: 'WhisperTokenizer', ...config }
  }
}

/** wav2vec2's: characters, with a bar between words. */
export function characters() {
  const words = ['<pad>', '<s>', '</s>', '<unk>', '|', ...'ETAONIHSRDLUMWCFGYPBVK']
  const vocab = byIndex(words)
  return {
    size: words.length,
    'tokenizer.json': {
      ...base,
      added_tokens: words.slice(0, 4).map((word, i) => added(i, word)),
      normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '|' },
      pre_tokenizer: { type: 'Split', pattern: { Regex: '' }, behavior: 'Isolated', invert: false },
      post_processor: null,
      decoder: { type: 'CTC', pad_token: '<pad>', word_delimiter_token: '|', cleanup: true },
      model: { vocab }
    },
    'tokenizer_config.json': {
      tokenizer_class: 'Wav2Vec2CTCTokenizer',
      bos_token: '<s>',
      eos_token: '</s>',
      unk_token: '<unk>',
      pad_token: '<pad>',
      model_max_length: 1000
    }
  }
}
