import * as Comlink from "comlink";
import { fromHex, readVectorFile, vectors } from "../tests/vectors.ts";
import type { RecoverResult, Sketch } from "./engine.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";
import { loadModulesInNode } from "./load-engine.ts";
import {
  createSearchHelper,
  createSearchWorkerApi,
  searchHelperOver,
  type SearchHelper,
  type SearchWorkerApi,
} from "./second-core.ts";

let modules: EngineModules;
beforeAll(async () => {
  modules = await loadModulesInNode();
});
const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

const sketchOf = (photo: string): Sketch => {
  const picture = vectors.pictures.find(({ name }) => name === photo);
  if (picture === undefined) throw new Error("unknown picture");
  return { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };
};
const turned = () => readVectorFile("pictures/spacex-turned.png");
const sketches = () => [sketchOf("coffee.png"), sketchOf("spacex-3000x1688.jpg")];
const search = (helper: SearchHelper | null): Promise<RecoverResult> =>
  createEngineCore(modules, { helper }).recover(turned(), sketches());

/** The helper as in a second worker: behind messages. */
function distant(lost = new Promise<unknown>(() => undefined)): SearchHelper {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  Comlink.expose(createSearchWorkerApi(), port1);
  return searchHelperOver(Comlink.wrap<SearchWorkerApi>(port2), modules.engine, lost);
}

describe("a search on two cores", () => {
  it("finds the same, to the last bit", async () => {
    const alone = await search(null);
    expect(alone.outcome).toBe("recovered");
    expect(await search(distant())).toEqual(alone);
  });

  it("gives the helper half of the windows and half of the candidates", async () => {
    const asked: string[] = [];
    const helper = createSearchHelper(modules.engine);
    await search({
      coarse: async (table, list, from, to) => {
        asked.push(`coarse ${String(list.length)} ${String(from)} ${String(to)}`);
        return helper.coarse(table, list, from, to);
      },
      refine: async (slot, candidates) => {
        asked.push(`refine ${String(slot)} ${String(candidates.length)}`);
        return helper.refine(slot, candidates);
      },
      wipe: async () => {
        asked.push("wipe");
        return helper.wipe();
      },
    });
    expect(asked).toEqual(["coarse 2 648 1296", "refine 1 3", "wipe"]);
  });

  it("is done by one core when the other fails before or between", async () => {
    const alone = await search(null);
    const helper = createSearchHelper(modules.engine);
    const broken = () => Promise.reject(new Error("gone"));
    expect(await search({ coarse: broken, refine: broken, wipe: broken })).toEqual(alone);
    expect(await search({ ...helper, refine: broken })).toEqual(alone);
    expect(await search(distant(Promise.resolve()))).toEqual(alone);
  });

  it("leaves nothing in the helper's memory, nor in what it was sent", async () => {
    const memories: WebAssembly.Memory[] = [];
    const helper = createSearchHelper(modules.engine, (memory) => memories.push(memory));
    const sent: Float64Array[] = [];
    await search({
      ...helper,
      coarse: async (table, ...rest) => {
        sent.push(table.sums);
        return helper.coarse(table, ...rest);
      },
    });
    expect(sent[0]?.some((value) => value !== 0)).toBe(false);
    const fresh = new Uint8Array(memoryOf(modules.engine));
    const used = new Uint8Array(memories[0]?.buffer ?? new ArrayBuffer(0));
    expect(used.length).toBeGreaterThanOrEqual(fresh.length);
    expect(used.findIndex((byte, at) => byte !== (fresh[at] ?? 0))).toBe(-1);
  });

  it("refuses a table of another size, and windows that there are not", async () => {
    const helper = createSearchHelper(modules.engine);
    await expect(helper.coarse({ width: 640, height: 480, sums: new Float64Array(7) }, [], 0, 1)).rejects.toThrow(
      TypeError,
    );
    await expect(
      helper.coarse({ width: 640, height: 480, sums: new Float64Array(641 * 481) }, sketches(), 0, 5000),
    ).rejects.toThrow(RangeError);
    await expect(createSearchWorkerApi().refine(0, [])).rejects.toThrow(TypeError);
  });
});

it("an area table on its own takes no room for pixels", async () => {
  const memories: WebAssembly.Memory[] = [];
  const helper = createSearchHelper(modules.engine, (memory) => memories.push(memory));
  await search(helper);
  expect(memories[0]?.buffer.byteLength).toBeLessThan(6_000_000);
});

function memoryOf(module: WebAssembly.Module): ArrayBuffer {
  const { memory } = new WebAssembly.Instance(module).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new Error("no memory");
  return new Uint8Array(memory.buffer).slice().buffer;
}
