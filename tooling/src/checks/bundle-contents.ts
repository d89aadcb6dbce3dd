import type { Buildable } from "../bundle/packages.ts";

export interface Bundle {
  readonly name: Buildable;
  readonly scripts: readonly { readonly file: string; readonly text: string }[];
  readonly wasm: readonly string[];
  /** Modules that the scripts were made of, by their paths in the source maps. */
  readonly sources: readonly string[];
}

/** Words that survive minifying, and show whose code a bundle holds. */
const bundleMarkers: readonly {
  readonly marker: string;
  readonly description: string;
  readonly allowedIn: readonly Buildable[];
}[] = [
  { marker: "age-encryption.org/v1", description: "code that seals", allowedIn: ["recovery"] },
  { marker: "react.transitional.element", description: "a React of its own", allowedIn: ["host"] },
  { marker: "end_session_endpoint", description: "code that signs in", allowedIn: ["host"] },
  { marker: "@relicario/shared/testing", description: "test doubles", allowedIn: [] },
];

/** All problems, each in one sentence. */
export function findBundleProblems({ name, scripts, wasm, sources }: Bundle): string[] {
  const problems =
    name === "recovery" ? [] : wasm.map((file) => `${name} carries ${file}: WASM loads in recovery only.`);
  if (sources.some((source) => source.endsWith("/runtime-core/dist/index.cjs")))
    problems.push(`${name} carries federation's runtime in CommonJS, which the host has as an ES module.`);
  for (const { marker, description, allowedIn } of bundleMarkers) {
    if (allowedIn.includes(name)) continue;
    for (const { file, text } of scripts)
      if (text.includes(marker)) problems.push(`${name} carries ${description} (${file}).`);
  }
  return problems;
}
