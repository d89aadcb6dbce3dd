import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe("GET /vendors/{id}", () => {
  it("returns only name and state, to anyone", async () => {
    expect((await service.call("GET", "/vendors/second", null)).body).toEqual({
      vendor_id: "second",
      name: "Second",
      enabled: true,
    });
    expect((await service.call("GET", "/vendors/closed", null)).body).toEqual({
      vendor_id: "closed",
      name: "Closed",
      enabled: false,
    });
  });

  it("answers 404 for an unknown vendor, 422 for an invalid id", async () => {
    expect(await service.call("GET", "/vendors/unknown", null)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    expect(await service.call("GET", "/vendors/Not%20One", null)).toMatchObject({ status: 422 });
  });
});
