import { findChromium, type Machine } from "./chromium.ts";

const bare: Machine = {
  named: undefined,
  playwrights: () => "/cache/chromium",
  exists: () => false,
  mayInstall: () => false,
  install: () => Promise.resolve(false),
};
const having =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

describe("findChromium", () => {
  it("takes the one that was named", async () => {
    await expect(
      findChromium({ ...bare, named: "/my/chrome", exists: having("/my/chrome", "/cache/chromium") }),
    ).resolves.toMatchObject({ program: "/my/chrome" });
  });

  it("does not silently take another when the named one is missing", async () => {
    await expect(findChromium({ ...bare, named: "/my/chrome", exists: having("/usr/bin/chromium") })).resolves.toEqual({
      advice: expect.stringContaining("/my/chrome, which is not there"),
    });
  });

  it("prefers Playwright's own to the system's", async () => {
    await expect(
      findChromium({ ...bare, exists: having("/cache/chromium", "/usr/bin/chromium") }),
    ).resolves.toMatchObject({ program: "/cache/chromium" });
  });

  it("takes the system's", async () => {
    await expect(findChromium({ ...bare, exists: having("/usr/bin/chromium") })).resolves.toMatchObject({
      program: "/usr/bin/chromium",
    });
  });

  it("installs one where it may", async () => {
    const files: string[] = [];
    const install = () => {
      files.push("/usr/bin/chromium");
      return Promise.resolve(true);
    };
    await expect(
      findChromium({ ...bare, exists: (file) => files.includes(file), mayInstall: () => true, install }),
    ).resolves.toMatchObject({ program: "/usr/bin/chromium", how: "installed now" });
  });

  it("says what to do where it may not", async () => {
    await expect(findChromium(bare)).resolves.toEqual({ advice: expect.stringContaining("apt-get install chromium") });
  });
});
