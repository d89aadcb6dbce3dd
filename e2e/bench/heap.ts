import type { CDPSession } from "@playwright/test";
import { z } from "zod";

/** Of V8's heap snapshots: nodes stand in one list, each with as many numbers as it has fields. */
const Snapshot = z.object({
  snapshot: z.object({
    meta: z.object({ node_fields: z.array(z.string()), node_types: z.tuple([z.array(z.string())], z.unknown()) }),
  }),
  nodes: z.array(z.number()),
  strings: z.array(z.string()),
});

/** The browser's record of requests, which it keeps for whoever measures and for nobody else. */
const profilerOverheadNode = "blink::NetworkResourcesData";

/**
 * Bytes of all that a page holds, after collecting, but compiled code with its feedback and tables:
 * objects, arrays, closures, strings and the like of its scripts, the browser's objects for them
 * (elements, detached ones too, styles, notes of shifts and frames), array buffers and WASM.
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
    node_types: [types],
  } = snapshot.meta;
  const [type, name, size] = [fields.indexOf("type"), fields.indexOf("name"), fields.indexOf("self_size")];
  let sum = 0;
  for (let offset = 0; offset < nodes.length; offset += fields.length) {
    const isRetained =
      types[nodes[offset + type] ?? -1] !== "code" &&
      strings[nodes[offset + name] ?? -1]?.startsWith(profilerOverheadNode) !== true;
    if (isRetained) sum += nodes[offset + size] ?? 0;
  }
  return sum;
}
