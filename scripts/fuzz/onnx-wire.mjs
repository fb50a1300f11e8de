// Edits of an ONNX file as protobuf: fields dropped, doubled, moved, relabelled, of lying length; bytes cut, turned and
// inserted.
// An edit takes a mutant `{ root, after, … }`, where `after` are edits of the written bytes, and a source of random
// numbers.
import { cut, flip, onBytes, remove } from './byte-edits.mjs'
import { EXTREMES, integer, NAMES } from './random.mjs'
import { contentOf, copyOf, knownFields, messagesIn, varintBytes } from './wire.mjs'

/** A message that has fields, and the place of one of them; any message when the whole tree is empty. */
function anyField(root, random, accept = () => true) {
  const found = messagesIn(root).filter(message => message.fields.some(accept))
  if (found.length === 0) return undefined
  const message = random.pick(found)
  const places = message.fields.flatMap((field, i) => (accept(field) ? [i] : []))
  return { message, at: random.pick(places) }
}

/** An edit of one field; nothing happens where there is none of its kind. */
const onField = (edit, accept) => (mutant, random) => {
  const found = anyField(mutant.root, random, accept)
  if (found) edit(found.message.fields, found.at, random, found.message)
}

const isVarint = field => field.wire === 0 && !field.raw
const isDelimited = field => field.wire === 2 && !field.raw
const hasContent = field => isDelimited(field) || field.group

const drop = onField((fields, at) => fields.splice(at, 1))
const double = onField((fields, at) => fields.splice(at, 0, copyOf(fields[at])))
const move = onField((fields, at, random) => fields.splice(random.below(fields.length), 0, ...fields.splice(at, 1)))

const repeat = onField((fields, at, random) => {
  const times = random.pick([3, 10, 100, 1000])
  if (contentOf(fields[at])?.length * times > 200_000) return
  fields.splice(at, 0, ...Array.from({ length: times }, () => copyOf(fields[at])))
}, hasContent)

const number = onField((fields, at, random) => {
  fields[at].value = integer(random, BigInt.asIntN(64, fields[at].value))
}, isVarint)
const overlong = onField(
  (fields, at, random) => {
    fields[at].pad = random.pick([1, 2, 8, 9, 12])
  },
  field => isVarint(field) || isDelimited(field)
)
const renumber = onField(
  (fields, at, random, { type }) => {
    fields[at].number = random.chance(0.7)
      ? random.pick(knownFields(type))[0]
      : random.pick([0, 17, 99, 1000, 536869999, 536870000, 536870911])
  },
  field => !field.raw
)
const rewire = onField(
  (fields, at, random) => {
    const { number: id, value } = fields[at]
    const content = contentOf(fields[at]) ?? varintBytes(value)
    const wire = random.pick([0, 1, 2, 5, 6, 7])
    fields[at] = {
      number: id,
      wire: 0,
      raw: Buffer.concat([
        varintBytes(id * 8 + wire),
        wire === 2 ? varintBytes(content.length) : Buffer.alloc(0),
        content
      ])
    }
  },
  field => !field.raw && !field.group
)
const lie = onField((fields, at, random) => {
  fields[at].lie = random.pick([1, -1, 2, 100, 2 ** 31, 2 ** 32, 2 ** 53 - 1])
}, isDelimited)
const group = onField((fields, at, random) => {
  fields[at].group = random.pick(['closed', 'open'])
}, isDelimited)

/** Groups within groups, unknown to every schema. */
const nestGroups = onField((fields, at, random) => {
  const depth = random.pick([10, 99, 101, 1000, 20_000])
  const raw = Buffer.alloc(depth * (random.chance(0.5) ? 2 : 1), 0x63)
  raw.fill(0x64, depth)
  fields.splice(at, 0, { number: 12, wire: 3, raw })
})

/** A message inside itself, many times. */
const nestMessage = onField(
  (fields, at, random) => {
    const holder = random.pick(messagesIn(fields[at].message))
    for (let depth = random.pick([1, 2, 5, 30, 33, 60, 110]), inner = fields[at]; depth > 0; depth--) {
      const copy = copyOf(inner)
      const host = messagesIn(copy.message).find(({ type }) => type === holder.type)
      if (host === undefined || contentOf(inner).length > 20_000) break
      const same = knownFields(holder.type).find(([, { message: type }]) => type === copy.message.type)
      host.fields.push(same ? { ...inner, number: same[0], known: same[1] } : inner)
      inner = copy
      fields[at] = inner
    }
  },
  field => field.message !== undefined
)

const text = onField(
  (fields, at, random) => {
    const old = fields[at].bytes
    fields[at].bytes = random.weighted([
      [3, () => Buffer.from(random.pick(NAMES))],
      [1, () => old.subarray(0, random.below(old.length + 1))],
      [1, () => Buffer.concat([old, Buffer.from(random.pick(['\0', '_', 'é', '\n']))])],
      [1, () => Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80])]
    ])()
  },
  field =>
    field.bytes !== undefined && field.wire === 2 && (field.known?.type === 'string' || field.known?.type === 'bytes')
)

const numbers = onField(
  (fields, at, random) => {
    const list = fields[at].numbers
    random.weighted([
      [
        3,
        () => {
          if (list.length > 0) list[random.below(list.length)] = integer(random)
        }
      ],
      [1, () => list.push(integer(random))],
      [1, () => list.pop()],
      [1, () => list.push(...Array(random.pick([10, 1000])).fill(random.pick(EXTREMES)))],
      [
        1,
        () => {
          fields[at] = {
            ...fields[at],
            numbers: undefined,
            bytes: Buffer.concat([contentOf(fields[at]), Buffer.from([0x80])])
          }
        }
      ]
    ])()
  },
  field => field.numbers !== undefined
)

/** Elements of a list one by one instead of packed, or the other way about: both mean the same. */
const unpack = onField(
  (fields, at) => {
    const { number: id, known, numbers: list } = fields[at]
    fields.splice(at, 1, ...list.map(value => ({ number: id, wire: 0, known, value })))
  },
  field => field.numbers !== undefined
)

/** Every choice of a oneof at once, or the same field twice with other content. */
const unknown = onField((fields, at, random) => {
  const id = random.pick([18, 100, 2047, 536870910])
  fields.splice(
    at,
    0,
    random.chance(0.5)
      ? { number: id, wire: 0, value: random.pick(EXTREMES) }
      : { number: id, wire: 2, bytes: Buffer.from('unknown') }
  )
})

const overwrite = onBytes((bytes, random) => {
  const copy = Buffer.from(bytes)
  return copy.length === 0 ? copy : copy.fill(random.pick([0, 0xff, 0x80, 0x7f, 0x08, 0x0a]), random.below(copy.length))
})
const insert = onBytes((bytes, random) => {
  const at = random.below(bytes.length + 1)
  const what = random.chance(0.5)
    ? varintBytes(BigInt.asUintN(64, random.pick(EXTREMES)))
    : Buffer.from(Array.from({ length: random.between(1, 20) }, () => random.below(256)))
  return Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)])
})
const append = onBytes((bytes, random) =>
  Buffer.concat([bytes, random.chance(0.5) ? bytes : Buffer.alloc(random.pick([1, 100, 10_000]), random.below(256))])
)

/** `[weight, name, edit]` */
export const WIRE_EDITS = [
  [4, 'drop', drop],
  [4, 'double', double],
  [3, 'move', move],
  [1, 'repeat', repeat],
  [6, 'number', number],
  [1, 'overlong', overlong],
  [3, 'renumber', renumber],
  [2, 'rewire', rewire],
  [2, 'lie', lie],
  [1, 'group', group],
  [1, 'nest-groups', nestGroups],
  [2, 'nest-message', nestMessage],
  [4, 'text', text],
  [4, 'numbers', numbers],
  [1, 'unpack', unpack],
  [1, 'unknown', unknown],
  [2, 'cut', cut],
  [3, 'flip', flip],
  [1, 'overwrite', overwrite],
  [2, 'insert', insert],
  [2, 'remove', remove],
  [1, 'append', append]
]

/** Edits that change nothing of what a file means. */
export const NEUTRAL_EDITS = [
  [2, 'unpack', unpack],
  [2, 'unknown', unknown],
  [
    1,
    'overlong-number',
    onField(
      (fields, at, random) => {
        fields[at].pad = random.between(1, 10 - varintBytes(fields[at].value).length)
      },
      field => isVarint(field) && varintBytes(field.value).length < 9
    )
  ],
  [
    2,
    'reorder',
    (mutant, random) => {
      // Fields of different numbers may come in any order; those of one number keep theirs.
      for (const message of messagesIn(mutant.root)) {
        const rank = new Map(message.fields.map(field => [field.number, random.below(1000)]))
        message.fields.sort((a, b) => rank.get(a.number) - rank.get(b.number) || a.number - b.number)
      }
    }
  ]
]
