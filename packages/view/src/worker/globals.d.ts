/** What only workers have, and the library of types for pages lacks. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer
}
