/** Decompresses gzip. Null if the bytes are not gzip or exceed `maxBytes`. */
export async function readGzip(
  bytes: Uint8Array<ArrayBuffer>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for await (const chunk of new Blob([bytes])
      .stream()
      .pipeThrough(new DecompressionStream("gzip")) as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
      size += chunk.length;
      if (size > maxBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null; // the caller reports the failure
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
