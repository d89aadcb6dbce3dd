import { z } from "zod";

const Parameters = z.strictObject({
  endpoint: z.url({ protocol: /^https?$/ }).optional(),
  region: z.string().min(1).optional(),
  style: z.enum(["host", "path"]).default("host"),
  profile: z.string().min(1).optional(),
});

export function isStoreAddress(text: string): boolean {
  try {
    parseStoreAddress(text);
    return true;
  } catch {
    return false; // its only error
  }
}

/** `s3://bucket/prefix?endpoint=…&region=…&style=path&profile=…` */
export interface S3Address extends z.infer<typeof Parameters> {
  readonly bucket: string;
  /** Empty, or ends with `/`. */
  readonly prefix: string;
}

/** @returns null for a folder. @throws TypeError for any other address */
export function parseStoreAddress(text: string): S3Address | null {
  if (!/^[a-z0-9]+:\/\//i.test(text) || text.startsWith("file://")) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const parameters = Parameters.safeParse(Object.fromEntries(url?.searchParams ?? []));
  if (
    url?.protocol !== "s3:" ||
    url.host === "" ||
    url.host !== url.hostname ||
    url.username !== "" ||
    url.hash !== "" ||
    !/^(\/[A-Za-z0-9._-]+)*\/?$/.test(url.pathname) ||
    !parameters.success
  )
    throw new TypeError("neither a folder nor s3://bucket/prefix");
  const prefix = url.pathname.replace(/^\/|\/$/g, "");
  return { ...parameters.data, bucket: url.hostname, prefix: prefix === "" ? "" : `${prefix}/` };
}
