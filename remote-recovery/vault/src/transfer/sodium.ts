import libsodium, { type Sodium } from "libsodium";

let loading: Promise<Sodium> | null = null;

/** Loaded at first need; its WASM is inside the script. A failed load is forgotten. */
export function loadSodium(): Promise<Sodium> {
  loading ??= start().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

/** As an ES module it is a function that makes an instance; where it was `require`d, an instance that becomes ready. */
async function start(): Promise<Sodium> {
  if (typeof libsodium === "function") return libsodium();
  await libsodium.ready;
  return libsodium;
}
