/** `pnpm check:circles`: no file imports itself in a circle. */
import { globSync } from "node:fs";

import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { problemsOfCircles, type Import } from "./import-circles.ts";

/** Circles that are still to be opened, each by the import that closes it. */
const accepted: readonly Import[] = [
  ["api/src/auth/session-tokens.ts", "api/src/http/access.ts"],
  ["remote-recovery/vault/src/steps/read-account.ts", "remote-recovery/vault/src/vault-context.ts"],
  ["remote-recovery/vault/src/steps/read-keyring.ts", "remote-recovery/vault/src/vault-context.ts"],
];

const passedOver = /(^|\/)(node_modules|dist|build|assembly)$/;
const files = globSync(packages.map((name) => `${name}/**/*.{ts,tsx}`), { cwd: rootFolder, exclude: (path) => passedOver.test(path) });

const problems = await problemsOfCircles(rootFolder, [...new Set(files)], accepted);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(problems.length)} problems`);
