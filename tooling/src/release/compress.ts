import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { listFiles } from "./files.ts";

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const compressibleFiles = /\.(js|css|html|json|svg|wasm|webmanifest)$/;

/** Browsers compare hashes with decoded bytes, so compressed forms are not listed. */
export function isPrecompressed(file: string): boolean {
  return file.endsWith(".br") || file.endsWith(".gz");
}

/** Keeps only forms that are smaller. */
export async function compressFolder(folder: string): Promise<void> {
  await Promise.all(
    listFiles(folder)
      .filter((file) => compressibleFiles.test(file))
      .map(async (file) => {
        const bytes = await readFile(join(folder, file));
        const [brotli, gzipped] = await Promise.all([
          compressBrotli(bytes, {
            params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
          }),
          compressGzip(bytes, { level: 9 }),
        ]);
        if (brotli.length < bytes.length) await writeFile(join(folder, `${file}.br`), brotli);
        if (gzipped.length < bytes.length) await writeFile(join(folder, `${file}.gz`), gzipped);
      }),
  );
}
