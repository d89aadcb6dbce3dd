/** Recomputes the vectors inside a browser's worker. Started by vectors.ts. */
import { recomputeVectors, type RecomputeRequest } from "./recompute.ts";

globalThis.addEventListener("message", ({ data }: MessageEvent<RecomputeRequest>) => {
  void recomputeVectors(data).then((result) => {
    globalThis.postMessage(result);
  });
});
