/** The files of a zip that holds them as they are, by its central directory. */
export function filesOf(zip: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  for (let at = zip.readUInt32LE(end + 16), left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt16LE(at + 10) !== 0)
      throw new Error("a packed file; an export holds sealed bytes, which do not shrink");
    const [size, name, extra, comment, local] = [
      zip.readUInt32LE(at + 24),
      zip.readUInt16LE(at + 28),
      zip.readUInt16LE(at + 30),
      zip.readUInt16LE(at + 32),
      zip.readUInt32LE(at + 42),
    ];
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    files.set(zip.toString("utf8", at + 46, at + 46 + name), zip.subarray(start, start + size));
    at += 46 + name + extra + comment;
  }
  return files;
}
