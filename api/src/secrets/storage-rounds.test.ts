import { checkStorageCounts } from "../testing/storage-count-check.ts";

jest.setTimeout(720_000); // 720 acts, on a machine that may be busy

describe("what the service counts", () => {
  it("is what the tables hold, whatever was done, twelve times", () => checkStorageCounts(12));
});
