import { delimiter, resolve } from "node:path";

import { readStartSettings } from "./settings.ts";

describe("readStartSettings", () => {
  it("has defaults for everything", () => {
    expect(readStartSettings({})).toMatchObject({
      port: 3000,
      databaseUrls: null,
      authority: null,
      clientId: "relicario-portal",
      environment: "test",
    });
  });

  it("takes the provider's address, the client and the environment from its variables", () => {
    const authority = "https://id.acme.example/realms/acme";
    expect(
      readStartSettings({ IDP_AUTHORITY: authority, IDP_CLIENT_ID: "acme-portal", ENVIRONMENT: "dev" }),
    ).toMatchObject({ authority, clientId: "acme-portal", environment: "dev" });
  });

  it("takes folders of external remotes, separated as in PATH", () => {
    expect(readStartSettings({ REMOTES: ["/a/one", "/b/two"].join(delimiter) }).remoteFolders).toEqual(
      ["/a/one", "/b/two"].map((folder) => resolve(folder)),
    );
    expect(readStartSettings({ REMOTES: "" }).remoteFolders).toEqual([]);
  });

  it("lists all wrong variables in one line, without values", () => {
    expect(() => readStartSettings({ PORT: "abc", DATABASE_URL: "mysql://user:secret@host/x" })).toThrow(
      /^PORT is not a port; DATABASE_URL is not a postgresql address$/,
    );
  });

  it.each(["-1", "65535", "3000.5", "1e9"])("refuses the port %s", (port) => {
    expect(() => readStartSettings({ PORT: port })).toThrow("PORT is not a port");
  });

  it("requires the identity provider's database when the service's is set", () => {
    expect(() => readStartSettings({ DATABASE_URL: "postgresql://localhost/a" })).toThrow(
      "set IDENTITY_DATABASE_URL too",
    );
    expect(
      readStartSettings({ DATABASE_URL: "postgresql://localhost/a", IDENTITY_DATABASE_URL: "postgresql://localhost/b" })
        .databaseUrls,
    ).toEqual({ service: "postgresql://localhost/a", identity: "postgresql://localhost/b" });
  });
});
