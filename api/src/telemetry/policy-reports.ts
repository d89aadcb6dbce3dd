import { z } from "zod";

import type { KnownReleases } from "./known-releases.ts";
import type { Measurement } from "./measurements.ts";

/** Per call; browsers send a few at a time. */
const maxReports = 20;

/** Directives of the gateway's headers, as Content Security Policy 3 names the effective one. */
const knownDirectives: readonly string[] = [
  ...[
    "default-src",
    "script-src",
    "script-src-elem",
    "script-src-attr",
    "style-src",
    "style-src-elem",
    "style-src-attr",
    "font-src",
    "img-src",
    "connect-src",
    "frame-src",
    "worker-src",
  ],
  ...["manifest-src", "base-uri", "form-action", "frame-ancestors", "require-trusted-types-for", "trusted-types"],
];

const optionalText = z.string().catch("");
/** Of the Reporting API (`report-to`); the older format (`report-uri`) is below. */
const Report = z.object({
  type: z.literal("csp-violation"),
  body: z.object({ effectiveDirective: optionalText, sourceFile: optionalText, blockedURL: optionalText }),
});
const LegacyReport = z.object({
  "csp-report": z.object({
    "effective-directive": optionalText,
    "violated-directive": optionalText,
    "source-file": optionalText,
    "blocked-uri": optionalText,
  }),
});

export const PolicyReports = z.union([z.array(z.unknown()), z.object({ "csp-report": z.unknown() })]);

/** Path of a release's file, with remote and release. */
const releasePathPattern = /^https?:\/\/[^/]+\/r\/([a-z0-9]+)\/([a-z0-9.-]+)\//;

/** Counts the directive and whose code violated it. Addresses are not stored. */
export async function measureViolations(
  reports: z.infer<typeof PolicyReports>,
  {
    origin,
    hostVersion,
    knownReleases,
  }: { readonly origin: string; readonly hostVersion: string; readonly knownReleases: KnownReleases },
): Promise<Measurement[]> {
  const violations = Array.isArray(reports)
    ? reports.slice(0, maxReports).map(parseViolation)
    : [parseLegacyViolation(reports)];
  return Promise.all(
    violations
      .filter((violation) => violation !== null)
      .map(async ({ directive, urls }) => {
        const [, remote, release] =
          urls.map((url) => releasePathPattern.exec(url)).find((match) => match !== null) ?? [];
        const isHost = urls.some((url) => url.startsWith(`${origin}/`));
        const labels = await knownReleases.resolveLabels(
          remote === undefined || release === undefined
            ? isHost
              ? { remote: "host", release: hostVersion }
              : { remote: "other", release: "other" }
            : { remote, release },
        );
        return { ...labels, phase: "csp", code: knownDirectives.includes(directive) ? directive : "other" };
      }),
  );
}

interface Violation {
  readonly directive: string;
  /** Of the violating code, then of the blocked resource. */
  readonly urls: readonly string[];
}

function parseViolation(report: unknown): Violation | null {
  const parsed = Report.safeParse(report);
  if (!parsed.success) return null;
  const { effectiveDirective, sourceFile, blockedURL } = parsed.data.body;
  return { directive: effectiveDirective, urls: [sourceFile, blockedURL] };
}

function parseLegacyViolation(report: unknown): Violation | null {
  const parsed = LegacyReport.safeParse(report);
  if (!parsed.success) return null;
  const {
    "effective-directive": effective,
    "violated-directive": violated,
    "source-file": source,
    "blocked-uri": blocked,
  } = parsed.data["csp-report"];
  return { directive: effective === "" ? (violated.split(" ")[0] ?? "") : effective, urls: [source, blocked] };
}
