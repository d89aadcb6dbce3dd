import { killUploads } from "../testing/kill-uploads.ts";

jest.setTimeout(240_000); // ten processes start, on a machine that may be busy

describe("uploads whose service is killed at any moment, three times over", () => {
  it("are absent, resumable or published, and nothing that was published is lost", () => killUploads(3));
});
