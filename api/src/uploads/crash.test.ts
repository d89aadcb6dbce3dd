import { killUploads } from "../testing/kill-uploads.ts";

jest.setTimeout(240_000); // four processes start, on a machine that may be busy

describe("an upload whose service is killed at any moment", () => {
  it("is absent, resumable or published, and nothing that was published is lost", () => killUploads(1));
});
