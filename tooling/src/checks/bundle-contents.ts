import type { Buildable } from "../bundle/packages.ts";

export interface Bundle {
  readonly name: Buildable;
  readonly scripts: readonly { readonly file: string; readonly text: string }[];
  readonly wasm: readonly string[];
  /** Modules that the scripts were made of, by their paths in the source maps. */
  readonly sources: readonly string[];
}

/** Words that survive minifying, and show whose code a bundle holds. */
const marks: readonly { readonly mark: string; readonly what: string; readonly allowedIn: readonly Buildable[] }[] = [
  { mark: "age-encryption.org/v1", what: "code that seals", allowedIn: ["recovery"] },
  { mark: "react.transitional.element", what: "a React of its own", allowedIn: ["host"] },
  { mark: "end_session_endpoint", what: "code that signs in", allowedIn: ["host"] },
  { mark: "@relicario/shared/testing", what: "test doubles", allowedIn: [] },
];

/** All problems, each in one sentence. */
export function problemsOfBundle({ name, scripts, wasm, sources }: Bundle): string[] {
  const problems =
    name === "recovery" ? [] : wasm.map((file) => `${name} carries ${file}: WASM loads in recovery only.`);
  if (sources.some((source) => source.endsWith("/runtime-core/dist/index.cjs")))
    problems.push(`${name} carries federation's runtime in CommonJS, which the host has as an ES module.`);
  for (const { mark, what, allowedIn } of marks) {
    if (allowedIn.includes(name)) continue;
    for (const { file, text } of scripts) if (text.includes(mark)) problems.push(`${name} carries ${what} (${file}).`);
  }
  return problems;
}
