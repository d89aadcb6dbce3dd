import { createWriterQueue } from "./writer-queue.ts";

describe("createWriterQueue", () => {
  const setLocks = (locks: unknown): void => {
    Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  };

  it("runs writers one after another, also where the browser refuses locks", async () => {
    setLocks({ request: () => Promise.reject(new DOMException("no storage", "SecurityError")) });
    const run = createWriterQueue("account");
    const steps: string[] = [];
    await Promise.all([
      run(() => Promise.resolve(steps.push("first"))),
      run(() => Promise.resolve(steps.push("second"))),
    ]);
    expect(steps).toEqual(["first", "second"]);
  });

  it("runs a writer that failed once", async () => {
    setLocks({ request: (_name: string, callback: () => Promise<unknown>) => callback() });
    const write = jest.fn(() => Promise.reject(new TypeError("failed")));
    await expect(createWriterQueue("account")(write)).rejects.toThrow("failed");
    expect(write).toHaveBeenCalledTimes(1);
  });
});
