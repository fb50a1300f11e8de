import { expect, test } from 'vitest'
import { drain, type Paced } from '../../src/kernels/core/pace.ts'
import { Blocks } from '../../src/runtime/blocks.ts'
import { HeldRecording } from '../../src/runtime/held-recording.ts'
import { Recording } from '../../src/runtime/recording.ts'
import { Weights } from '../../src/runtime/weights.ts'

const blocks = new Blocks({})
const recordingOf = (): Recording => new Recording([], [], [], [], undefined, false, undefined)

/** Records, with a pause before it is done. */
function* paused(recording: Recording): Paced<Recording> {
  yield
  return recording
}

test('a recording that was let go of while it was made is not held, though another run makes one by then', () => {
  const held = new HeldRecording(new Weights(blocks), blocks)
  const [stale, fresh] = [recordingOf(), recordingOf()]
  const first = held.made(
    () => paused(stale),
    made => made
  )
  first.next()
  // A constant does not lie any longer where the first one has read it.
  held.letGo()
  const second = held.made(
    () => paused(fresh),
    made => made
  )
  second.next()
  expect(drain(first)).toBe(stale)
  expect(held.isReady).toBe(false)
  expect(drain(second)).toBe(fresh)
  expect(held.recording).toBe(fresh)
})

test('a recording that a run gives up may be made by another one, unless that has begun', () => {
  const held = new HeldRecording(new Weights(blocks), blocks)
  const begin = (): Paced<Recording | undefined> =>
    held.made(
      () => paused(recordingOf()),
      made => made
    )
  const first = begin()
  first.next()
  first.return(undefined)
  expect(held.isReady).toBe(true)
  const second = begin()
  second.next()
  held.letGo()
  const third = begin()
  third.next()
  second.return(undefined)
  expect(held.isReady).toBe(false)
  drain(third)
  expect(held.recording).toBeInstanceOf(Recording)
})
