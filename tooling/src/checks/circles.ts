/** `pnpm check:circles`: no file imports itself in a circle. */
import { globSync } from "node:fs";

import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { problemsOfCircles, type Import } from "./import-circles.ts";

const decoder = (name: string): string => `remote-recovery/engine/src/decoders/${name}.ts`;

/** Circles that are still to be opened, each by the import that closes it. */
const accepted: readonly Import[] = [
  ["api/src/auth/session-tokens.ts", "api/src/http/access.ts"],
  ["shared/src/ui/MenuSheet.tsx", "shared/src/ui/Menu.tsx"],
  ...["iso-boxes", "iso-header", "jpeg-header"].map((name) => [decoder(name), decoder("header")] as const),
  ...["avif", "emscripten", "heic", "jpeg", "png", "webp"].map((name) => [decoder(name), decoder("decode")] as const),
  ["remote-recovery/engine/src/hinted-search.ts", "remote-recovery/engine/src/search.ts"],
  ["remote-recovery/vault/src/steps/read-account.ts", "remote-recovery/vault/src/vault-context.ts"],
  ["remote-recovery/vault/src/steps/read-keyring.ts", "remote-recovery/vault/src/vault-context.ts"],
  ["remote-recovery/vault/src/testing/fake-uploads.ts", "remote-recovery/vault/src/testing/fake-service.ts"],
];

const passedOver = /(^|\/)(node_modules|dist|build|assembly)$/;
const files = globSync(packages.map((name) => `${name}/**/*.{ts,tsx}`), { cwd: rootFolder, exclude: (path) => passedOver.test(path) });

const problems = await problemsOfCircles(rootFolder, [...new Set(files)], accepted);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(problems.length)} problems`);
