import { findChromium, type LocalMachine } from "./chromium.ts";

const emptyMachine: LocalMachine = {
  configuredPath: undefined,
  playwrightPath: () => "/cache/chromium",
  exists: () => false,
  canInstall: () => false,
  install: () => Promise.resolve(false),
};
const existsOnly =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

describe("findChromium", () => {
  it("uses the configured browser", async () => {
    await expect(
      findChromium({
        ...emptyMachine,
        configuredPath: "/my/chrome",
        exists: existsOnly("/my/chrome", "/cache/chromium"),
      }),
    ).resolves.toMatchObject({ program: "/my/chrome" });
  });

  it("uses no other browser when the configured one is missing", async () => {
    await expect(
      findChromium({ ...emptyMachine, configuredPath: "/my/chrome", exists: existsOnly("/usr/bin/chromium") }),
    ).resolves.toEqual({
      advice: expect.stringContaining("/my/chrome, which is not there"),
    });
  });

  it("prefers Playwright's own browser to the system's", async () => {
    await expect(
      findChromium({ ...emptyMachine, exists: existsOnly("/cache/chromium", "/usr/bin/chromium") }),
    ).resolves.toMatchObject({ program: "/cache/chromium" });
  });

  it("uses the system's browser", async () => {
    await expect(findChromium({ ...emptyMachine, exists: existsOnly("/usr/bin/chromium") })).resolves.toMatchObject({
      program: "/usr/bin/chromium",
    });
  });

  it("installs a browser where installing is possible", async () => {
    const files: string[] = [];
    const install = () => {
      files.push("/usr/bin/chromium");
      return Promise.resolve(true);
    };
    await expect(
      findChromium({ ...emptyMachine, exists: (file) => files.includes(file), canInstall: () => true, install }),
    ).resolves.toMatchObject({ program: "/usr/bin/chromium", source: "installed now" });
  });

  it("says what to do where installing is impossible", async () => {
    await expect(findChromium(emptyMachine)).resolves.toEqual({
      advice: expect.stringContaining("apt-get install chromium"),
    });
  });
});
