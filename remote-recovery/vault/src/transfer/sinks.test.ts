import { randomBytes } from "../seal/bytes.ts";
import { createFileSink, commitOnSuccess } from "./sinks.ts";

/** Fakes a handle of the File System Access API. Writes take effect when the stream is closed. */
function createChosenFile(failures: Partial<Record<"write" | "close" | "abort", DOMException>> = {}) {
  const disk = { content: "what was there", temporary: "", open: false };
  const runStep = async (name: keyof typeof failures, callback: () => void): Promise<void> => {
    const failure = failures[name];
    if (failure !== undefined) throw failure;
    callback();
  };
  const handle = {
    createWritable: async () => {
      disk.open = true;
      return {
        write: (bytes: Uint8Array) =>
          runStep("write", () => {
            disk.temporary += String(bytes.length);
          }),
        close: () => runStep("close", () => Object.assign(disk, { content: disk.temporary, open: false })),
        abort: () =>
          runStep("abort", () => {
            disk.open = false;
          }),
      };
    },
  } as unknown as FileSystemFileHandle;
  return { handle, disk };
}

const quotaError = new DOMException("no room", "QuotaExceededError");

async function writeTo(handle: FileSystemFileHandle): Promise<Blob | null> {
  const sink = await createFileSink(handle);
  return commitOnSuccess(sink, () => sink.write(randomBytes(10)));
}

describe("createFileSink", () => {
  it("replaces the file when everything is written", async () => {
    const { handle, disk } = createChosenFile();
    expect(await writeTo(handle)).toBeNull();
    expect(disk).toMatchObject({ content: "10", open: false });
  });

  it.each(["write", "close"] as const)("leaves the file unchanged if the disk is full at %s", async (step) => {
    const { handle, disk } = createChosenFile({ [step]: quotaError });
    await expect(writeTo(handle)).rejects.toMatchObject({ code: "storage_full" });
    expect(disk).toMatchObject({ content: "what was there", open: false });
  });

  it("leaves the file unchanged if the disk is gone, and throws the first error", async () => {
    const notFoundError = new DOMException("gone", "NotFoundError");
    const { handle, disk } = createChosenFile({
      write: notFoundError,
      abort: new DOMException("already", "InvalidStateError"),
    });
    await expect(writeTo(handle)).rejects.toBe(notFoundError);
    expect(disk.content).toBe("what was there");
  });
});
