import { createFeatureFlags, flagsKey } from "./feature-flags.ts";

const testDeployment = { environment: "test", features: { camera: true, cloud: false } };

beforeEach(() => {
  sessionStorage.clear();
});

describe("createFeatureFlags", () => {
  it.each([
    ["dev", true],
    ["test", false],
    ["production", false],
  ])("shows billing in %s: %s, whatever else the deployment says", (environment, expected) => {
    expect(
      createFeatureFlags({ environment, features: { billing: !expected } }, sessionStorage).getState()["billing"],
    ).toBe(expected);
  });

  it.each(["test", "production"] as const)(
    "shows no billing in %s, whatever storage says and whoever switches",
    (environment) => {
      sessionStorage.setItem(flagsKey, '{"billing":true}');
      const flags = createFeatureFlags({ environment, features: { billing: true, debug_flags: true } }, sessionStorage);
      flags.set("billing", true);
      expect(flags.getState()["billing"]).toBe(false);
    },
  );

  it("keeps what was switched for this session, and tells", () => {
    const flags = createFeatureFlags(testDeployment, sessionStorage);
    const listener = jest.fn();
    flags.subscribe(listener);
    flags.set("cloud", true);
    expect(flags.getState()).toMatchObject({ camera: true, cloud: true });
    expect(listener).toHaveBeenCalledTimes(1);
    expect(JSON.parse(sessionStorage.getItem(flagsKey) ?? "")).toEqual({ cloud: true });
    expect(createFeatureFlags(testDeployment, sessionStorage).getState()).toMatchObject({ cloud: true });
    flags.reset();
    expect(flags.getState()).toEqual(flags.base);
    expect(sessionStorage.getItem(flagsKey)).toBeNull();
  });

  it.each([
    ["nonsense", "{"],
    ["another shape", '{"camera":"yes"}'],
    ["a flag that the deployment does not have", '{"admin":true}'],
  ])("takes %s in storage for nothing", (_name, stored) => {
    sessionStorage.setItem(flagsKey, stored);
    expect(createFeatureFlags(testDeployment, sessionStorage).getState()).toEqual({
      camera: true,
      cloud: false,
      billing: false,
    });
  });

  it("switches nothing in production unless the deployment allows it", () => {
    sessionStorage.setItem(flagsKey, '{"cloud":true}');
    const flags = createFeatureFlags({ ...testDeployment, environment: "production" }, sessionStorage);
    flags.set("camera", false);
    expect(flags.switchable).toBe(false);
    expect(flags.getState()).toMatchObject({ camera: true, cloud: false });
    const allowed = createFeatureFlags(
      { environment: "production", features: { ...testDeployment.features, debug_flags: true } },
      sessionStorage,
    );
    expect(allowed.getState()).toMatchObject({ cloud: true });
  });
});
