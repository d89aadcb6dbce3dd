import { z } from "zod";

/** `port` 0 takes a free one. */
export const StaticServers = z.array(
  z.strictObject({
    name: z.string().min(1),
    folder: z.string().min(1),
    port: z.int().min(0).max(65_535),
    openAtStart: z.boolean(),
  }),
);
export type StaticServers = z.infer<typeof StaticServers>;

/** A line on its stdin. */
export const StaticServerCommand = z.strictObject({ action: z.enum(["open", "close"]), name: z.string() });
export type StaticServerCommand = z.infer<typeof StaticServerCommand>;

/** A line on its stdout: ports of the open servers, by name. */
export const StaticServerStatus = z.strictObject({ serving: z.record(z.string(), z.int()) });
export type StaticServerStatus = z.infer<typeof StaticServerStatus>;
