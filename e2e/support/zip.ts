/** Files of an uncompressed zip, by its central directory. */
export function readZip(zip: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const directoryEnd = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  for (
    let position = zip.readUInt32LE(directoryEnd + 16), remaining = zip.readUInt16LE(directoryEnd + 10);
    remaining > 0;
    remaining--
  ) {
    if (zip.readUInt16LE(position + 10) !== 0)
      throw new Error("the zip has a compressed file; an export stores its files uncompressed");
    const [size, name, extra, comment, localHeader] = [
      zip.readUInt32LE(position + 24),
      zip.readUInt16LE(position + 28),
      zip.readUInt16LE(position + 30),
      zip.readUInt16LE(position + 32),
      zip.readUInt32LE(position + 42),
    ];
    const start = localHeader + 30 + zip.readUInt16LE(localHeader + 26) + zip.readUInt16LE(localHeader + 28);
    files.set(zip.toString("utf8", position + 46, position + 46 + name), zip.subarray(start, start + size));
    position += 46 + name + extra + comment;
  }
  return files;
}
