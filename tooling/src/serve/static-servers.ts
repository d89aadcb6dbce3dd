import { z } from "zod";

/**
 * What the process of the static servers is started with. `port` 0 takes a free one; `wanted` is
 * open from the start.
 */
export const StaticServers = z.array(
  z.strictObject({
    name: z.string().min(1),
    folder: z.string().min(1),
    port: z.int().min(0).max(65_535),
    wanted: z.boolean(),
  }),
);
export type StaticServers = z.infer<typeof StaticServers>;

/** A line on its standard input. */
export const ServingOrder = z.strictObject({ act: z.enum(["open", "close"]), name: z.string() });
export type ServingOrder = z.infer<typeof ServingOrder>;

/** A line on its standard output: ports of those that are open now, by name. */
export const Serving = z.strictObject({ serving: z.record(z.string(), z.int()) });
export type Serving = z.infer<typeof Serving>;
