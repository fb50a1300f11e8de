import { type ErrorCode, NodewiseError } from '../errors.ts'
import type { ByteSource } from './byte-source.ts'
import { notRead, type Remote } from './remote.ts'

/** Failures that opening it again would not change. */
const CERTAIN: ReadonlySet<string> = new Set<ErrorCode>(['missing-file', 'outside-folder', 'invalid-file'])

/** A file that is opened asynchronously. Until then what is asked of it is not at hand. */
export class LateSource implements ByteSource {
  readonly name: string
  private readonly begin: () => Promise<ByteSource>
  private opening: Promise<void> | undefined
  private source: ByteSource | undefined
  private failure: NodewiseError | undefined

  /** @param begin opens it */
  constructor(name: string, begin: () => Promise<ByteSource>) {
    this.name = name
    this.begin = begin
  }

  get size(): number {
    return this.opened().size
  }

  get inMemory(): boolean {
    return this.opened().inMemory ?? false
  }

  get remote(): Remote | undefined {
    return this.opened().remote
  }

  read(offset: number, length: number, target?: Uint8Array): Uint8Array {
    return this.opened().read(offset, length, target)
  }

  /**
   * Opens it. That it is not there, or may not be read, is an error when it is read, as for files on disk.
   * @throws NodewiseError (as a rejection) where that is not known
   */
  open(): Promise<void> {
    return (this.opening ??= this.begin().then(
      source => {
        this.source = source
      },
      (error: unknown) => {
        if (!(error instanceof NodewiseError) || !CERTAIN.has(error.code)) throw error
        this.failure = error
      }
    ))
  }

  private opened(): ByteSource {
    if (this.source) return this.source
    throw (
      this.failure ??
      notRead(this.name, {
        settle: async () => {
          await this.open()
          return () => undefined
        }
      })
    )
  }
}
