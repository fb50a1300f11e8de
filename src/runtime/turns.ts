import { unlessAborted } from '../files/remote.ts'
import { abortedBy, type Patience } from './drive.ts'

/** The order of runs that go on one after the other. */
export class Turns {
  /** Settles when all runs have ended that have asked for a turn. */
  private last: Promise<void> = Promise.resolve()
  /** Turns that have been asked for and have not ended. */
  private count = 0

  /**
   * Waits until earlier runs have ended.
   * @returns ends the turn of this run
   * @throws NodewiseError (as a rejection) `aborted` where the signal says so before; the run has no turn then
   */
  async take({ signal }: Patience): Promise<() => void> {
    const before = this.last
    let end = (): void => undefined
    this.count++
    this.last = new Promise<void>(resolve => {
      end = () => {
        this.count--
        resolve()
      }
    })
    try {
      await unlessAborted(before, signal)
    } catch (error) {
      void before.then(end)
      throw signal?.aborted ? abortedBy(signal) : error
    }
    return end
  }

  /** Does something when all runs have ended that have asked for a turn, before others begin: now if there are none. */
  afterAll(act: () => void): void {
    if (this.count === 0) return act()
    void this.take({}).then(end => {
      act()
      end()
    })
  }
}
