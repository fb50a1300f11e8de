/** `nodewise-serve`: models behind the Open Inference Protocol v2. */
export { main } from './main.ts'
export { startServer } from './server.ts'
export type { RunningServer, ServeOptions, Tls } from './server.ts'
