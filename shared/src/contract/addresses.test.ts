import { isSameSiteVault, Origin, SecureUrl } from "./addresses.ts";

describe("SecureUrl", () => {
  it.each([
    "https://pay.example.org/account?x=1",
    "http://localhost:3001/realms/relicario",
    "http://portal.localhost",
    "http://127.0.0.1:8080",
    "http://[::1]:8080",
  ])("accepts %s", (address) => {
    expect(SecureUrl.safeParse(address).success).toBe(true);
  });

  it.each([
    "http://pay.example.org",
    "http://localhost.example.org",
    "http://127.example.org",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://localhost",
    "no address",
    "",
  ])("refuses %s", (address) => {
    expect(SecureUrl.safeParse(address).success).toBe(false);
  });
});

describe("Origin", () => {
  it.each(["https://portal.example.org/", "https://portal.example.org:443", "https://Portal.example.org", "x"])(
    "refuses %s",
    (address) => {
      expect(Origin.safeParse(address).success).toBe(false);
    },
  );
});

describe("isSameSiteVault", () => {
  it.each([
    ["http://localhost:3000", "http://localhost:3004"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3004"],
    ["http://portal.localhost:3000", "http://vault.portal.localhost:3000"],
    ["https://portal.example.org", "https://vault.portal.example.org"],
    ["https://portal.example.org", "https://vault.example.org"],
    ["https://portal.example.org", "https://a.vault.example.org:8443"],
    ["https://example.org", "https://vault.example.org"],
  ])("returns true for %s and %s", (portalOrigin, vaultOrigin) => {
    expect(isSameSiteVault(portalOrigin, vaultOrigin)).toBe(true);
  });

  it.each([
    ["the same origin", "https://portal.example.org", "https://portal.example.org"],
    ["another scheme", "http://portal.localhost:3000", "https://vault.portal.localhost"],
    ["another port, not on this machine", "https://portal.example.org", "https://portal.example.org:8443"],
    ["another site", "https://portal.example.org", "https://vault.example.net"],
    ["a name that only ends with the same letters", "https://portal.example.org", "https://badexample.org"],
    ["the parent domain itself", "https://portal.example.org", "https://example.org"],
    ["a sibling below one label", "https://example.org", "https://vault.org"],
    ["a sibling below localhost", "http://portal.localhost", "http://vault.localhost"],
    ["a host below one label", "http://localhost:3000", "http://vault.localhost:3000"],
    ["another IP address", "https://10.0.0.1", "https://20.0.0.1"],
    ["a name that ends with a dot", "https://portal.org.", "https://vault.org."],
  ])("returns false for %s", (_case, portalOrigin, vaultOrigin) => {
    expect(isSameSiteVault(portalOrigin, vaultOrigin)).toBe(false);
  });
});
