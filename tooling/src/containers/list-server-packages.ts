/** Prints the folders of pnpm's store that the image keeps, one a line (server-packages.ts). */
import { listServerPackages } from "./server-packages.ts";

process.stdout.write(`${(await listServerPackages()).join("\n")}\n`);
