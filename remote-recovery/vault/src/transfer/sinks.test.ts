import { randomBytes } from "../seal/bytes.ts";
import { chosenFile, committed } from "./sinks.ts";

/**
 * A file as the File System Access API gives it: what is written stands beside it until it is
 * closed.
 */
function chosen(failing: Partial<Record<"write" | "close" | "abort", DOMException>> = {}) {
  const disk = { content: "what was there", beside: "", open: false };
  const step = async (name: keyof typeof failing, work: () => void): Promise<void> => {
    const failure = failing[name];
    if (failure !== undefined) throw failure;
    work();
  };
  const handle = {
    createWritable: async () => {
      disk.open = true;
      return {
        write: (bytes: Uint8Array) =>
          step("write", () => {
            disk.beside += String(bytes.length);
          }),
        close: () => step("close", () => Object.assign(disk, { content: disk.beside, open: false })),
        abort: () =>
          step("abort", () => {
            disk.open = false;
          }),
      };
    },
  } as unknown as FileSystemFileHandle;
  return { handle, disk };
}

const full = new DOMException("no room", "QuotaExceededError");

async function write(handle: FileSystemFileHandle): Promise<Blob | null> {
  const sink = await chosenFile(handle);
  return committed(sink, () => sink.write(randomBytes(10)));
}

describe("a chosen file", () => {
  it("is put in place when all of it is written", async () => {
    const { handle, disk } = chosen();
    expect(await write(handle)).toBeNull();
    expect(disk).toMatchObject({ content: "10", open: false });
  });

  it.each(["write", "close"] as const)("stays as it was when the disk is full at %s", async (step) => {
    const { handle, disk } = chosen({ [step]: full });
    await expect(write(handle)).rejects.toMatchObject({ code: "storage_full" });
    expect(disk).toMatchObject({ content: "what was there", open: false });
  });

  it("stays as it was when the disk goes away; what failed first is told", async () => {
    const gone = new DOMException("gone", "NotFoundError");
    const { handle, disk } = chosen({ write: gone, abort: new DOMException("already", "InvalidStateError") });
    await expect(write(handle)).rejects.toBe(gone);
    expect(disk.content).toBe("what was there");
  });
});
