import type { CDPSession } from "@playwright/test";
import { z } from "zod";

/** Of V8's heap snapshots: nodes stand in one list, each with as many numbers as it has fields. */
const Snapshot = z.object({
  snapshot: z.object({ meta: z.object({ node_fields: z.array(z.string()), node_types: z.tuple([z.array(z.string())], z.unknown()) }) }),
  nodes: z.array(z.number()),
});

/** Compiled code with its feedback and tables, and what the browser itself keeps of the page, the observer's notes of the network among it. */
const notHeld: readonly string[] = ["code", "native"];

/** Bytes of what a page's scripts hold: objects, arrays, closures, strings and the like, after collecting. */
export async function heldBytes(devtools: CDPSession): Promise<number> {
  const chunks: string[] = [];
  const take = ({ chunk }: { readonly chunk: string }): void => {
    chunks.push(chunk);
  };
  devtools.on("HeapProfiler.addHeapSnapshotChunk", take);
  await devtools.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  devtools.off("HeapProfiler.addHeapSnapshotChunk", take);
  const { snapshot, nodes } = Snapshot.parse(JSON.parse(chunks.join("")));
  const { node_fields: fields, node_types: [types] } = snapshot.meta;
  const [type, size] = [fields.indexOf("type"), fields.indexOf("self_size")];
  let sum = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (!notHeld.includes(types[nodes[at + type] ?? -1] ?? "")) sum += nodes[at + size] ?? 0;
  }
  return sum;
}
