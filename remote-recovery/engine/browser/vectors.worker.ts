/** Recomputes the vectors inside a browser's worker. Started by vectors.ts. */
import { recompute, type RecomputeRequest } from "./recompute.ts";

globalThis.addEventListener("message", ({ data }: MessageEvent<RecomputeRequest>) => {
  void recompute(data).then((result) => {
    globalThis.postMessage(result);
  });
});
