/** Recomputes the vectors inside a browser's worker. Started by vectors.ts. */
import { recompute, type Order } from "./recompute.ts";

globalThis.addEventListener("message", ({ data }: MessageEvent<Order>) => {
  void recompute(data).then((answer) => {
    globalThis.postMessage(answer);
  });
});
