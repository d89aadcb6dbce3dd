import { z } from "zod";

import type { KnownReleases } from "./known-releases.ts";
import type { Measured } from "./sums.ts";

/** Of one call; browsers send a few at a time. */
const mostReports = 20;

/**
 * Directives of the portal's own pages (the gateway's headers), as Content Security Policy 3 names
 * the effective one.
 */
const directives: readonly string[] = [
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

const text = z.string().catch("");
/** Of the Reporting API (`report-to`), and the older form (`report-uri`). */
const Report = z.object({
  type: z.literal("csp-violation"),
  body: z.object({ effectiveDirective: text, sourceFile: text, blockedURL: text }),
});
const OlderReport = z.object({
  "csp-report": z.object({
    "effective-directive": text,
    "violated-directive": text,
    "source-file": text,
    "blocked-uri": text,
  }),
});

export const PolicyReports = z.union([z.array(z.unknown()), z.object({ "csp-report": z.unknown() })]);

/** A file of a release, by its path; the release is named as the remote. */
const ofRelease = /^https?:\/\/[^/]+\/r\/([a-z0-9]+)\/([a-z0-9.-]+)\//;

/** What is counted of reports: the directive and whose code it was. No address of them is kept. */
export async function violationsIn(
  reports: z.infer<typeof PolicyReports>,
  {
    origin,
    hostVersion,
    known,
  }: { readonly origin: string; readonly hostVersion: string; readonly known: KnownReleases },
): Promise<Measured[]> {
  const found = Array.isArray(reports) ? reports.slice(0, mostReports).map(violationOf) : [olderViolationOf(reports)];
  return Promise.all(
    found
      .filter((each) => each !== null)
      .map(async ({ directive, addresses }) => {
        const [, remote, release] =
          addresses.map((address) => ofRelease.exec(address)).find((match) => match !== null) ?? [];
        const host = addresses.some((address) => address.startsWith(`${origin}/`));
        const labels = await known.labelsOf(
          remote === undefined || release === undefined
            ? host
              ? { remote: "host", release: hostVersion }
              : { remote: "other", release: "other" }
            : { remote, release },
        );
        return { ...labels, phase: "csp", code: directives.includes(directive) ? directive : "other" };
      }),
  );
}

interface Violation {
  readonly directive: string;
  /** Of the code that did it, then of what was refused. */
  readonly addresses: readonly string[];
}

function violationOf(report: unknown): Violation | null {
  const parsed = Report.safeParse(report);
  if (!parsed.success) return null;
  const { effectiveDirective, sourceFile, blockedURL } = parsed.data.body;
  return { directive: effectiveDirective, addresses: [sourceFile, blockedURL] };
}

function olderViolationOf(report: unknown): Violation | null {
  const parsed = OlderReport.safeParse(report);
  if (!parsed.success) return null;
  const {
    "effective-directive": effective,
    "violated-directive": violated,
    "source-file": source,
    "blocked-uri": blocked,
  } = parsed.data["csp-report"];
  return { directive: effective === "" ? (violated.split(" ")[0] ?? "") : effective, addresses: [source, blocked] };
}
