import type { BuildTarget } from "../bundle/packages.ts";

export interface Bundle {
  readonly name: BuildTarget;
  readonly scripts: readonly { readonly file: string; readonly text: string }[];
  readonly wasm: readonly string[];
  /** Paths of the bundled modules, from the source maps. */
  readonly sources: readonly string[];
}

/** Strings that survive minification and identify bundled code. */
const bundleMarkers: readonly {
  readonly marker: string;
  readonly description: string;
  readonly allowedIn: readonly BuildTarget[];
  /** `<target>/<file>` of scripts that never run in the portal's page. */
  readonly allowedFiles?: readonly string[];
}[] = [
  { marker: "age-encryption.org/v1", description: "code that seals", allowedIn: ["recovery"] },
  {
    marker: "react.transitional.element",
    description: "a React of its own",
    allowedIn: ["host"],
    allowedFiles: ["recovery/vault-element.js"],
  },
  { marker: "end_session_endpoint", description: "code that signs in", allowedIn: ["host"] },
  { marker: "@relicario/shared/testing", description: "test doubles", allowedIn: [] },
];

export function findBundleProblems({ name, scripts, wasm, sources }: Bundle): string[] {
  const problems =
    name === "recovery" ? [] : wasm.map((file) => `${name} carries ${file}: WASM loads in recovery only.`);
  if (sources.some((source) => source.endsWith("/runtime-core/dist/index.cjs")))
    problems.push(`${name} carries federation's runtime in CommonJS, which the host has as an ES module.`);
  for (const { marker, description, allowedIn, allowedFiles = [] } of bundleMarkers) {
    if (allowedIn.includes(name)) continue;
    for (const { file, text } of scripts)
      if (text.includes(marker) && !allowedFiles.includes(`${name}/${file}`))
        problems.push(`${name} carries ${description} (${file}).`);
  }
  return problems;
}
