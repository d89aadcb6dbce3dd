import type { CDPSession } from "@playwright/test";
import { z } from "zod";

const Usage = z.object({ embedderHeapUsedSize: z.number(), backingStorageSize: z.number() });

/** Of V8's heap snapshots: nodes stand in one list, each with as many numbers as it has fields. */
const Snapshot = z.object({
  snapshot: z.object({ meta: z.object({ node_fields: z.array(z.string()), node_types: z.tuple([z.array(z.string())], z.unknown()) }) }),
  nodes: z.array(z.number()),
});

/** Compiled code with its feedback and tables; and what is counted apart: the browser's objects of the page, elements among them. */
const notHeld: readonly string[] = ["code", "native"];

/**
 * Bytes of what a page holds after collecting: objects, arrays, closures, strings and the like of its scripts, the browser's objects
 * for them (elements, detached ones too) and the bytes of array buffers and WASM. Without compiled code.
 */
export async function heldBytes(devtools: CDPSession): Promise<number> {
  const { embedderHeapUsedSize, backingStorageSize } = Usage.parse(await devtools.send("Runtime.getHeapUsage"));
  return (await heldByScripts(devtools)) + embedderHeapUsedSize + backingStorageSize;
}

async function heldByScripts(devtools: CDPSession): Promise<number> {
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
