import { parentPort } from 'node:worker_threads'
import { serveEngine } from './engine.ts'

// The script of an engine's thread.
if (parentPort) serveEngine(parentPort)
