import { resolveRemoteAddresses, Upstreams } from "./upstreams.ts";

const service = "http://service:8080";

describe("resolveRemoteAddresses", () => {
  it("resolves a named remote by its setting, and any other remote by the pattern", () => {
    const upstreams = Upstreams.parse({ api: service, secrets: "http://10.0.0.7:80", "*": "http://remote-*:8080" });
    expect([...resolveRemoteAddresses(upstreams, ["secrets", "notes"])]).toEqual([
      ["secrets", "http://10.0.0.7:80"],
      ["notes", "http://remote-notes:8080"],
    ]);
  });

  it.each(["notes", "constructor"])("throws for %s when it has no address", (name) => {
    expect(() => resolveRemoteAddresses(Upstreams.parse({ api: service }), [name])).toThrow(`no address of ${name}`);
  });

  it.each([
    ["the service is missing", { "*": "http://remote-*:8080" }],
    ["an address is not a URL", { api: service, notes: "remote-notes" }],
    ["the pattern has no place for a name", { api: service, "*": "http://remotes:8080" }],
  ])("does not parse when %s", (_, upstreams) => {
    expect(Upstreams.safeParse(upstreams).success).toBe(false);
  });
});
