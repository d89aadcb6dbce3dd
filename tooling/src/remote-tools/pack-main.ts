import { resolve } from "node:path";

import { packForTeams } from "./pack.ts";

const [folder] = process.argv.slice(2).filter((word) => word !== "--");
if (folder === undefined) {
  console.error("pnpm pack:remote <folder>: name the folder for the packed packages.");
  process.exitCode = 2;
} else await packForTeams(resolve(process.env["INIT_CWD"] ?? process.cwd(), folder));
