import type { GivenFile } from '../worker/sources.ts'

/** Whether a file may be a report of the command. */
export const isReport = ({ path }: GivenFile): boolean => /\.(sarif|json)$/i.test(path)

const MODEL = /\.(onnx|xml|onnxtxt)$/i

/** The file among those given that is the model; a file without a known suffix if there is no other. */
export const modelAmong = (files: readonly GivenFile[]): GivenFile | undefined => {
  const models = files.filter(({ path }) => MODEL.test(path))
  return models.find(({ path }) => /\.onnx$/i.test(path)) ?? models[0] ?? (files.length === 1 ? files[0] : undefined)
}

/** More files than this are not taken from a folder. */
const MAX_FILES = 5000

/** The files of a drop, folders included, with their paths. */
export async function filesOf(transfer: DataTransfer): Promise<GivenFile[]> {
  // Entries must be asked for before the first wait.
  const entries = [...transfer.items].flatMap(item => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return given(transfer.files)
  const found: GivenFile[] = []
  for (const entry of entries) await collect(entry, '', found)
  return found
}

async function collect(entry: FileSystemEntry, folder: string, found: GivenFile[]): Promise<void> {
  if (found.length >= MAX_FILES) return
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    found.push({ path: `${folder}${file.name}`, content: file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // A reader gives some hundred entries at a time.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return
    for (const inner of part) await collect(inner, `${folder}${entry.name}/`, found)
  }
}

/** The files of a file field. */
export const given = (list: Iterable<File>): GivenFile[] =>
  [...list].map(file => ({ path: file.webkitRelativePath || file.name, content: file }))

/** Downloads a file, telling how far it is. */
export async function download(address: URL, onPart: (part: number) => void): Promise<Blob> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`the server answers ${response.status} ${response.statusText}`)
  const total = Number(response.headers.get('content-length') ?? 0)
  const reader = response.body?.getReader()
  if (!reader) return response.blob()
  const parts: BlobPart[] = []
  let done = 0
  for (;;) {
    const { value } = await reader.read()
    if (!value) return new Blob(parts)
    parts.push(value)
    done += value.length
    if (total > 0) onPart(Math.min(1, done / total))
  }
}
