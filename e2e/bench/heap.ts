import type { CDPSession } from "@playwright/test";
import { z } from "zod";

/** V8's heap snapshot: `nodes` is one list, with as many numbers for a node as it has fields. */
const Snapshot = z.object({
  snapshot: z.object({
    meta: z.object({ node_fields: z.array(z.string()), node_types: z.tuple([z.array(z.string())], z.unknown()) }),
  }),
  nodes: z.array(z.number()),
  strings: z.array(z.string()),
});

/** The browser's record of requests, which it keeps only while DevTools observes. */
const profilerOverheadNode = "blink::NetworkResourcesData";

/**
 * Bytes that a page retains after garbage collection: objects, arrays, closures and strings of its
 * scripts, the browser's objects for them (elements, detached ones too, styles, records of shifts
 * and frames), array buffers and WASM. Leaves out compiled code, its feedback and tables.
 */
export async function measureRetainedBytes(devtools: CDPSession): Promise<number> {
  const chunks: string[] = [];
  const collectChunk = ({ chunk }: { readonly chunk: string }): void => {
    chunks.push(chunk);
  };
  devtools.on("HeapProfiler.addHeapSnapshotChunk", collectChunk);
  await devtools.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  devtools.off("HeapProfiler.addHeapSnapshotChunk", collectChunk);
  const { snapshot, nodes, strings } = Snapshot.parse(JSON.parse(chunks.join("")));
  const {
    node_fields: fields,
    node_types: [nodeTypes],
  } = snapshot.meta;
  const [type, name, size] = [fields.indexOf("type"), fields.indexOf("name"), fields.indexOf("self_size")];
  let retainedBytes = 0;
  for (let offset = 0; offset < nodes.length; offset += fields.length) {
    const isRetained =
      nodeTypes[nodes[offset + type] ?? -1] !== "code" &&
      strings[nodes[offset + name] ?? -1]?.startsWith(profilerOverheadNode) !== true;
    if (isRetained) retainedBytes += nodes[offset + size] ?? 0;
  }
  return retainedBytes;
}
