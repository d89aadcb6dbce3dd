import { fromHex, readVectorFile, vectors } from "../tests/vectors.ts";
import type { RecoverResult, Sketch } from "./engine.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";
import { loadModulesInNode } from "./load-engine.ts";
import {
  createSearchDelegate,
  createSearchWorkerApi,
  wrapSearchDelegate,
  type SearchDelegate,
  type SearchWorkerApi,
} from "./search-delegate.ts";
import { createCallClient, serveCalls } from "./worker-calls.ts";

let modules: EngineModules;
beforeAll(async () => {
  modules = await loadModulesInNode();
});
const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

const findSketchVector = (photo: string): Sketch => {
  const picture = vectors.pictures.find(({ name }) => name === photo);
  if (picture === undefined) throw new Error("unknown picture");
  return { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };
};
const readTurnedCopy = () => readVectorFile("pictures/spacex-turned.png");
const makeSketches = () => [findSketchVector("coffee.png"), findSketchVector("spacex-3000x1688.jpg")];
const search = (delegate: SearchDelegate | null): Promise<RecoverResult> =>
  createEngineCore(modules, { delegate }).recover(readTurnedCopy(), makeSketches());

/** A search delegate that is reached through messages, like in a second worker. */
function createRemoteDelegate(failed = new Promise<unknown>(() => undefined)): SearchDelegate {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  serveCalls(createSearchWorkerApi(), port1);
  return wrapSearchDelegate(createCallClient<SearchWorkerApi>(port2), modules.engine, failed);
}

describe("a search on two cores", () => {
  it("gives the same result, to the last bit", async () => {
    const singleCoreResult = await search(null);
    expect(singleCoreResult.outcome).toBe("recovered");
    expect(await search(createRemoteDelegate())).toEqual(singleCoreResult);
  });

  it("gives the search delegate half of the windows and half of the candidates", async () => {
    const calls: string[] = [];
    const delegate = createSearchDelegate(modules.engine);
    await search({
      scoreCoarseWindows: async (table, list, from, to) => {
        calls.push(`coarse ${String(list.length)} ${String(from)} ${String(to)}`);
        return delegate.scoreCoarseWindows(table, list, from, to);
      },
      refine: async (slot, candidates) => {
        calls.push(`refine ${String(slot)} ${String(candidates.length)}`);
        return delegate.refine(slot, candidates);
      },
      wipe: async () => {
        calls.push("wipe");
        return delegate.wipe();
      },
    });
    expect(calls).toEqual(["coarse 2 648 1296", "refine 1 3", "wipe"]);
  });

  it("falls back to one core when the delegate fails at once or midway", async () => {
    const singleCoreResult = await search(null);
    const delegate = createSearchDelegate(modules.engine);
    const fail = () => Promise.reject(new Error("gone"));
    expect(await search({ scoreCoarseWindows: fail, refine: fail, wipe: fail })).toEqual(singleCoreResult);
    expect(await search({ ...delegate, refine: fail })).toEqual(singleCoreResult);
    expect(await search(createRemoteDelegate(Promise.resolve()))).toEqual(singleCoreResult);
  });

  it("leaves nothing in the search delegate's memory or in the table that it received", async () => {
    const memories: WebAssembly.Memory[] = [];
    const delegate = createSearchDelegate(modules.engine, (memory) => memories.push(memory));
    const sentSums: Float64Array[] = [];
    await search({
      ...delegate,
      scoreCoarseWindows: async (table, ...rest) => {
        sentSums.push(table.sums);
        return delegate.scoreCoarseWindows(table, ...rest);
      },
    });
    expect(sentSums[0]?.some((value) => value !== 0)).toBe(false);
    const initialMemory = new Uint8Array(readInitialMemory(modules.engine));
    const usedMemory = new Uint8Array(memories[0]?.buffer ?? new ArrayBuffer(0));
    expect(usedMemory.length).toBeGreaterThanOrEqual(initialMemory.length);
    expect(usedMemory.findIndex((byte, index) => byte !== (initialMemory[index] ?? 0))).toBe(-1);
  });

  it("rejects a table of another size, unknown windows, and calls before init", async () => {
    const delegate = createSearchDelegate(modules.engine);
    await expect(
      delegate.scoreCoarseWindows({ width: 640, height: 480, sums: new Float64Array(7) }, [], 0, 1),
    ).rejects.toThrow(TypeError);
    await expect(
      delegate.scoreCoarseWindows(
        { width: 640, height: 480, sums: new Float64Array(641 * 481) },
        makeSketches(),
        0,
        5000,
      ),
    ).rejects.toThrow(RangeError);
    await expect(createSearchWorkerApi().refine(0, [])).rejects.toThrow(TypeError);
  });
});

it("a search delegate allocates no memory for pixels", async () => {
  const memories: WebAssembly.Memory[] = [];
  const delegate = createSearchDelegate(modules.engine, (memory) => memories.push(memory));
  await search(delegate);
  expect(memories[0]?.buffer.byteLength).toBeLessThan(6_000_000);
});

function readInitialMemory(module: WebAssembly.Module): ArrayBuffer {
  const { memory } = new WebAssembly.Instance(module).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new Error("the engine exports no memory");
  return new Uint8Array(memory.buffer).slice().buffer;
}
