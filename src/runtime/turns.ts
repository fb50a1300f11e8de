import { unlessAborted } from '../files/remote.ts'
import { abortedBy, type Patience } from './drive.ts'

/** The order of runs that go on one after the other. */
export class Turns {
  /** Settles when all runs have ended that have asked for a turn. */
  private last: Promise<void> = Promise.resolve()

  /**
   * Waits until earlier runs have ended.
   * @returns ends the turn of this run
   * @throws NodewiseError (as a rejection) `aborted` where the signal says so before; the run has no turn then
   */
  async take({ signal }: Patience): Promise<() => void> {
    const before = this.last
    let end = (): void => undefined
    this.last = new Promise<void>(resolve => {
      end = resolve
    })
    try {
      await unlessAborted(before, signal)
    } catch (error) {
      void before.then(end)
      throw signal?.aborted ? abortedBy(signal) : error
    }
    return end
  }
}
