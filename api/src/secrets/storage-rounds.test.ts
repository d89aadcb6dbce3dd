import { checkStorageCounts } from "../testing/storage-count-check.ts";

jest.setTimeout(720_000); // 720 operations, on a machine that may be busy

describe("storage used", () => {
  it("equals the tables' bytes after any operations, twelve times", () => checkStorageCounts(12));
});
